-- A note is opened, broken and mended by what the editor offers; then one decision is put in the place of another, taken
-- back, done again and renamed, and all is saved.
local journey = dofile(arg[0]:gsub("[^/]+$", "neovim.lua"))
local note = journey.open("memory/nav/notes/queue.md")
journey.tell("open", journey.codes(note))

journey.type(note, "active", "actve", journey.same(note, { "invalid-value" }))
journey.tell("typed", vim.diagnostic.get(note)[1].message)
journey.act("status: actve", "quickfix", "active")
journey.wait("the fix", journey.same(note, {}))
journey.tell("mended", vim.api.nvim_buf_get_lines(note, 0, -1, false)[3])

journey.type(note, "it was tried", "see [[nav/architecture/thread]]", journey.same(note, { "body-link-broken" }))
journey.type(note, "thread]]", "threads]]", journey.same(note, {}))

journey.open("src/nav/node.py")
journey.tell("servers", #vim.lsp.get_clients())
local old = journey.open("memory/nav/architecture/threads.md")
local new = journey.open("memory/nav/architecture/pool.md")
journey.act("nav/architecture/threads", "refactor", "Supersede nav/architecture/threads")
journey.wait("both ends", function()
  return journey.has(new, "supersedes:") and journey.has(old, "superseded_by:")
end)
for _, buffer in ipairs({ new, old }) do
  vim.api.nvim_buf_call(buffer, vim.cmd.undo)
end
journey.tell("undone", not journey.has(new, "supersedes:") and not journey.has(old, "superseded_by:"))
for _, buffer in ipairs({ new, old }) do
  vim.api.nvim_buf_call(buffer, vim.cmd.redo)
end
journey.wait("what is left to say", function()
  return vim.tbl_contains(journey.codes(new), "template-leftover")
end)
journey.type(new, journey.after(new, "reason: "), "two threads were too many", journey.same(new, {}))
journey.tell("ends", { journey.codes(new), journey.codes(old) })

vim.fn.cursor(1, 1)
vim.fn.search("nav/architecture/threads", "c")
vim.lsp.buf.rename("two-threads")
journey.wait("the new name", function()
  return vim.fn.filereadable("memory/nav/architecture/two-threads.md") == 1
end)
journey.wait("what names it", function()
  return journey.has(note, "[[nav/architecture/two-threads]]") and journey.has(new, "[nav/architecture/two-threads]")
end)
journey.wait("the link to what ended", journey.same(note, { "link-to-superseded" }))
vim.cmd.wall()
journey.tell("saved", true)
