-- A note is opened, broken, mended by what the editor offers, and saved.
local journey = dofile(arg[0]:gsub("[^/]+$", "neovim.lua"))
local rule = "memory/nav/notes/queue.md"
local buffer = journey.open(rule)
journey.tell("open", journey.codes(buffer))

journey.type(buffer, "active", "actve", journey.same(buffer, { "unknown-status" }))
journey.tell("typed", vim.diagnostic.get(buffer)[1].message)
vim.cmd.undo()
journey.wait("the undo", journey.same(buffer, {}))
journey.tell("undone", journey.codes(buffer))

journey.type(buffer, "it was tried", "see [[nav/architecture/thread]]", journey.same(buffer, { "body-link-broken" }))
journey.tell("broken", journey.codes(buffer))
journey.type(buffer, "thread]]", "threads]]", journey.same(buffer, {}))
vim.cmd.write()
journey.tell("saved", journey.codes(buffer))
