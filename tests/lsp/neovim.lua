-- What a person does in Neovim, as steps for a test: each prints one line of JSON. Arguments: the interpreter,
-- the folder, and the lines of the guide for Neovim.
local command, folder = { arg[1], "-m", "mdmem", "lsp" }, arg[2]
local M = {}

-- Else a file of Python makes Neovim look for interpreters with a library of its own.
vim.g.loaded_python3_provider = 0
vim.cmd("filetype on")
dofile(arg[3])
-- What is typed is told at once, for nobody goes on typing.
vim.lsp.config("mdmem", { cmd = command, flags = { debounce_text_changes = 0 } })

function M.tell(step, value)
  io.stdout:write(vim.json.encode({ step, value }) .. "\n")
end

function M.wait(what, ready)
  if not vim.wait(60000, ready, 2) then
    M.tell("timeout", what)
    os.exit(1)
  end
end

function M.codes(buffer)
  local found = {}
  for _, one in ipairs(vim.diagnostic.get(buffer)) do
    table.insert(found, one.code)
  end
  table.sort(found)
  return found
end

function M.open(path)
  vim.cmd.edit(vim.fn.fnameescape(folder .. "/" .. path))
  local buffer = vim.api.nvim_get_current_buf()
  M.wait("the server", function()
    local client = vim.lsp.get_clients({ bufnr = buffer })[1]
    return client ~= nil and client.initialized
  end)
  return buffer
end

-- Put a text in the place of another, and return how long it takes until the findings are others.
function M.type(buffer, old, new, ready)
  local lines = vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
  for number, line in ipairs(lines) do
    local start = line:find(old, 1, true)
    if start then
      local began = vim.uv.hrtime()
      vim.api.nvim_buf_set_text(buffer, number - 1, start - 1, number - 1, start - 1 + #old, vim.split(new, "\n"))
      M.wait(new, ready)
      return (vim.uv.hrtime() - began) / 1e6
    end
  end
  M.tell("absent", old)
  os.exit(1)
end

function M.same(buffer, codes)
  return function()
    return vim.deep_equal(M.codes(buffer), codes)
  end
end

function M.has(buffer, text)
  return table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), "\n"):find(text, 1, true) ~= nil
end

-- Return what stands in a line behind some words.
function M.after(buffer, words)
  for _, line in ipairs(vim.api.nvim_buf_get_lines(buffer, 0, -1, false)) do
    if vim.startswith(line, words) then
      return line:sub(#words + 1)
    end
  end
end

-- Put the cursor on a text of the file at hand, and apply the one action there whose title has some words.
function M.act(text, kind, words)
  vim.fn.cursor(1, 1)
  vim.fn.search("\\V" .. text, "c")
  vim.lsp.buf.code_action({
    context = { only = { kind } },
    filter = function(action)
      return action.title:find(words, 1, true) ~= nil
    end,
    apply = true,
  })
end

return M
