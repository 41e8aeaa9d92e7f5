-- What a person reads in a Neovim that has no `vim.lsp.config` yet, and the repair of a note that then takes the
-- place of another. `$TOLD` says where what is seen is told.
local function tell(step, value)
  vim.fn.writefile({ vim.json.encode({ step, value }) }, vim.env.TOLD, "a")
end

local function wait(what, ready)
  if not vim.wait(30000, ready, 5) then
    tell("timeout", what)
    vim.cmd("cquit")
  end
end

local function open(path)
  vim.cmd("edit " .. path)
  wait("the server", function()
    return #vim.lsp.buf_get_clients() == 1
  end)
end

-- Ask for something at the first place of a text in the file at hand, and return what is answered.
local function ask(method, text)
  local found = vim.fn.searchpos("\\V" .. text, "cnw")
  local document = vim.lsp.util.make_text_document_params()
  local at = { textDocument = document, position = { line = found[1] - 1, character = found[2] - 1 } }
  local answers = vim.lsp.buf_request_sync(0, method, at, 30000)
  return select(2, next(answers)).result
end

local function messages()
  return vim.tbl_map(function(one)
    return vim.split(one.message, "\n")[1]
  end, vim.diagnostic.get(0))
end

local function replace(old, new, count)
  vim.cmd(("%%substitute/%s/%s/"):format(old, new))
  wait(new, function()
    return #messages() == count
  end)
end

local function choose(kind, title, count)
  local params = vim.lsp.util.make_range_params()
  params.context = { diagnostics = {}, only = { kind } }
  local answers = vim.lsp.buf_request_sync(0, "textDocument/codeAction", params, 30000)
  for _, one in ipairs(select(2, next(answers)).result) do
    if vim.startswith(one.title, title) then
      vim.lsp.util.apply_workspace_edit(one.edit, "utf-16")
      wait(title, function()
        return #messages() == count
      end)
      return
    end
  end
  tell("absent", title)
  vim.cmd("cquit")
end

open("src/loop.py")
tell("lens", ask("textDocument/codeLens", "spin")[1].command.title)
tell("hover", ask("textDocument/hover", "nav/architecture").contents.value)
tell("definition", ask("textDocument/definition", "nav/architecture").uri)
open("memory/nav/notes/queue.md")
replace("status: active", "status: actve", 1)
tell("typed", messages())
choose("quickfix", "Write `status: active`", 0)
replace("it was tried", "it was measured", 0)
vim.fn.search("nav/notes/list", "cw")
choose("refactor", "Supersede nav/notes/list", 1)
replace('"<say why>"', "a queue is fair", 0)
vim.cmd("wall")
tell("saved", messages())
vim.cmd("qall!")
