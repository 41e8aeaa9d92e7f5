" What a person does in Vim with ALE: a note is opened, broken, mended and saved. `$FOLDER`, `$LINES_OF_GUIDE` and
" `$TOLD` say where.
set nocompatible hidden nomore shortmess=aoOtTIcF noswapfile
filetype plugin on
let g:ale_linters = {'markdown': ['mdmem']}
let g:ale_lint_delay = 10
packadd ale
execute 'source' $LINES_OF_GUIDE
let s:steps = []
let s:waited = 0

function! s:Tell(step, value) abort
  call writefile([json_encode([a:step, a:value])], $TOLD, 'a')
endfunction

function! s:Texts() abort
  return map(copy(ale#engine#GetLoclist(bufnr(''))), {_, one -> split(one.text, "\n")[0]})
endfunction

function! s:Next(timer) abort
  let l:step = s:steps[0]
  let s:waited += 1
  if s:waited > 600
    call s:Tell('timeout', l:step.name)
    cquit
  endif
  if l:step.Ready()
    call remove(s:steps, 0)
    call l:step.Do()
    if empty(s:steps)
      qall!
    endif
  endif
endfunction

function! s:Step(name, ready, do) abort
  call add(s:steps, {'name': a:name, 'Ready': a:ready, 'Do': a:do})
endfunction

function! s:Break() abort
  %substitute/status: active/status: actve/
  call ale#Queue(0)
endfunction

function! s:Mend() abort
  call s:Tell('typed', s:Texts())
  %substitute/status: actve/status: active/
  call ale#Queue(0)
endfunction

function! s:Save() abort
  %substitute/it was tried/it was measured/
  write
  call s:Tell('saved', s:Texts())
endfunction

call s:Step('the server', {-> !empty(ale#lsp_linter#GetLSPLinterMap())}, function('s:Break'))
call s:Step('a finding', {-> !empty(s:Texts())}, function('s:Mend'))
call s:Step('nothing', {-> empty(s:Texts())}, function('s:Save'))
execute 'edit' $FOLDER . '/memory/nav/notes/queue.md'
call timer_start(50, function('s:Next'), {'repeat': -1})
