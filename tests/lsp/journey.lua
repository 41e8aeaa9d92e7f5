-- A note is opened, broken, mended by what the editor offers, put in the place of another, renamed, and saved.
local journey = dofile(arg[0]:gsub("[^/]+$", "neovim.lua"))
local rule = "memory/nav/notes/queue.md"
local buffer = journey.open(rule)
journey.tell("open", journey.codes(buffer))

journey.type(buffer, "active", "actve", journey.same(buffer, { "unknown-status" }))
journey.tell("typed", vim.diagnostic.get(buffer)[1].message)
vim.cmd.undo()
journey.wait("the undo", journey.same(buffer, {}))
journey.tell("undone", journey.codes(buffer))

journey.type(buffer, "active", "actve", journey.same(buffer, { "unknown-status" }))
journey.go("actve")
journey.choose("quickfix", "Write `status: active`")
journey.wait("the fix", journey.same(buffer, {}))
journey.tell("fixed", vim.api.nvim_buf_get_lines(buffer, 2, 3, false)[1])

journey.type(buffer, "it was tried", "see [[nav/architecture/thread]]", journey.same(buffer, { "body-link-broken" }))
journey.tell("broken", journey.codes(buffer))
journey.type(buffer, "thread]]", "threads]]", journey.same(buffer, {}))
vim.cmd.write()

-- Both ends change at once, and an undo takes both back.
local older = vim.fn.bufadd(vim.fn.fnamemodify("memory/nav/notes/list.md", ":p"))
journey.go("nav/notes/list")
journey.choose("refactor", "Supersede nav/notes/list")
journey.wait("the older end", journey.has(older, "status: deprecated"))
journey.tell("superseded", journey.has(buffer, "supersedes: [nav/notes/list]")())
for _, one in ipairs({ buffer, older }) do
  vim.api.nvim_buf_call(one, vim.cmd.undo)
end
journey.tell("taken back", { journey.has(buffer, "supersedes:")(), journey.has(older, "deprecated")() })
for _, one in ipairs({ buffer, older }) do
  vim.api.nvim_buf_call(one, vim.cmd.redo)
end
journey.wait("the reason is missing", journey.same(buffer, { "template-leftover" }))
journey.type(buffer, '"<say why>"', "a queue is fair", journey.same(buffer, {}))

-- A command takes the reason that somebody was asked for.
vim.fn.input = function()
  return "nobody waits"
end
-- What a script does is one step of undo, where a person's keys are one each.
vim.o.undolevels = vim.o.undolevels
vim.cmd.Deprecate()
journey.wait("the end", journey.has(buffer, "deprecated_reason"))
journey.go("deprecated_reason")
journey.tell("ended", vim.api.nvim_get_current_line())
vim.cmd.undo()
journey.wait("the end of the end", journey.same(buffer, {}))

-- The file moves, and what names it follows.
journey.go("nav/notes/list")
vim.lsp.buf.rename("nav/notes/first-list")
journey.wait("the new name", function()
  return vim.fn.filereadable("memory/nav/notes/first-list.md") == 1
end)
journey.wait("what names it", journey.has(buffer, "supersedes: [nav/notes/first-list]"))
vim.cmd.wall()
journey.tell("saved", journey.codes(buffer))
