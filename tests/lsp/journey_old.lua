-- What a person does in a Neovim before 0.11, which knows nothing of the guide's lines: a note is broken, mended by a
-- fix, put in the place of another, and saved. The folder is the one it is started in; `TOLD` names the file to tell to.
local told = io.open(os.getenv("TOLD"), "w")
local function tell(step, value)
  told:write(vim.json.encode({ step, value }) .. "\n")
end

local function wait(what, ready)
  if not vim.wait(15000, ready, 5) then
    tell("timeout", what)
    told:close()
    vim.cmd("cquit!")
  end
end

vim.cmd("edit memory/nav/notes/queue.md")
local buffer = vim.api.nvim_get_current_buf()
local id = vim.lsp.start_client({ name = "mdmem", cmd = { "mdmem", "lsp" }, root_dir = vim.fn.getcwd() })
vim.lsp.buf_attach_client(buffer, id)
wait("the server", function()
  return vim.lsp.get_client_by_id(id).server_capabilities ~= nil and vim.lsp.buf_is_attached(buffer, id)
end)

local function messages()
  return vim.tbl_map(function(one)
    return one.message
  end, vim.diagnostic.get(buffer))
end

local function replace(old, new)
  vim.fn.cursor(1, 1)
  vim.fn.search("\\V" .. old, "cW")
  vim.cmd(("s/%s/%s/"):format(old, new))
end

local function choose(kind, title)
  local params = vim.lsp.util.make_range_params()
  params.context = { diagnostics = {}, only = { kind } }
  local answers = vim.lsp.buf_request_sync(buffer, "textDocument/codeAction", params, 15000)
  for _, one in ipairs(answers[id].result) do
    if vim.startswith(one.title, title) then
      vim.lsp.util.apply_workspace_edit(one.edit, "utf-16")
      return
    end
  end
  tell("absent", title)
end

replace("status: active", "status: actve")
wait("a finding", function()
  return #messages() == 1
end)
tell("typed", messages())
choose("quickfix", "Write `status: active`")
wait("the fix", function()
  return #messages() == 0
end)
vim.fn.search("nav/notes/list", "cW")
choose("refactor", "Supersede nav/notes/list")
replace('"<say why>"', "a queue is fair")
wait("nothing", function()
  return #messages() == 0
end)
vim.cmd("wall")
tell("saved", messages())
told:close()
vim.cmd("qall!")
