import { createHash } from 'node:crypto'

/** Style sheet, inlined so that the page fetches nothing. */
export const STYLE = `
:root { color-scheme: light dark; --ink: #1d2430; --dim: #667085; --line: #e3e6ec; --page: #f5f6f8; --card: #fff;
  --accent: #2f5bea; --soft: #eef2ff; --bad: #b42318; --bad-soft: #fef3f2 }
@media (prefers-color-scheme: dark) { :root { --ink: #e7eaf0; --dim: #98a2b3; --line: #2a303c; --page: #12151b;
  --card: #1a1f28; --accent: #8ea8ff; --soft: #1f2940; --bad: #ff9c92; --bad-soft: #3a1d1b } }
* { box-sizing: border-box }
body { margin: 0; background: var(--page); color: var(--ink); font: 15px/1.5 system-ui, sans-serif }
main { max-width: 60rem; margin: 0 auto; padding: 2rem 1.25rem 4rem }
header { display: flex; align-items: baseline; gap: .75rem; flex-wrap: wrap; margin-bottom: 1.25rem }
h1 { font-size: 1.4rem; margin: 0; overflow-wrap: anywhere }
h1 a { color: inherit; text-decoration: none }
form { margin: 0 }
[role=search] { flex: 1; min-width: 12rem }
input[type=search] { width: 100%; padding: .4rem .8rem; font: inherit; color: inherit; background: var(--card);
  border: 1px solid var(--line); border-radius: 8px }
button { font: inherit; font-size: .9rem; color: var(--bad); background: var(--card); border: 1px solid var(--line);
  border-radius: 8px; padding: .2rem .75rem; cursor: pointer }
button:hover { background: var(--bad-soft) }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px }
.bar { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: .5rem 1.25rem; min-height: 2rem; margin: 0 0 .6rem }
.pad > .bar { justify-content: start }
nav { display: flex; align-items: baseline; gap: 1rem }
h2 { font-size: .8rem; text-transform: uppercase; letter-spacing: .06em; color: var(--dim); margin: 1.75rem 0 .5rem }
a { color: var(--accent); text-underline-offset: .15em }
.dim { color: var(--dim) }
.end { margin-left: auto }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 12px; overflow: hidden }
.pad { padding: 1rem 1.25rem }
.list { list-style: none; margin: 0; padding: 0 }
.list li + li { border-top: 1px solid var(--line) }
.list a { display: grid; grid-template-columns: minmax(9rem, 16rem) 1fr auto; gap: .25rem 1rem; padding: .8rem 1.25rem;
  color: inherit; text-decoration: none }
.list a:hover, .list a:focus-visible { background: var(--soft) }
.list bdi { overflow: hidden; text-overflow: ellipsis; white-space: nowrap }
.list .who { display: grid }
.list small { overflow: hidden; text-overflow: ellipsis; white-space: nowrap }
.list .subject { font-weight: 600 }
.list .when { white-space: nowrap }
.preview .choices { display: flex; flex-wrap: wrap; gap: .25rem 1.5rem; padding: .5rem 1.25rem; border-bottom: 1px solid var(--line); font-size: .9rem }
.preview fieldset { display: flex; gap: .75rem; border: 0; margin: 0; padding: 0 }
.preview legend { float: left; padding: 0; margin-right: .75rem; color: var(--dim) }
.preview label { display: flex; align-items: center; gap: .3rem; cursor: pointer }
.preview:has([value=phone]:checked) iframe { width: 390px; max-width: 100%; margin: 0 auto; border: solid var(--line); border-width: 0 1px }
.preview:has([value=dark]:checked) iframe { color-scheme: dark; background: #121212 }
.empty { text-align: center; padding: 3.5rem 1rem }
.badge { border-radius: 99px; padding: .05rem .6rem; font-size: .8rem; background: var(--soft); color: var(--accent) }
.badge.failed { background: var(--bad-soft); color: var(--bad) }
.error { background: var(--bad-soft); color: var(--bad); border-radius: 12px; padding: .75rem 1.25rem; overflow-wrap: anywhere }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .3rem 1.25rem; margin: 0 }
dt { color: var(--dim) }
dd { margin: 0; overflow-wrap: anywhere }
pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; font: 13.5px/1.55 ui-monospace, monospace }
iframe { display: block; width: 100%; height: max(20rem, 100vh - 16rem); border: 0; background: #fff; color-scheme: light; resize: vertical }
.plain { margin: 0; padding-left: 1.1rem; overflow-wrap: anywhere }
summary { cursor: pointer; color: var(--dim) }
details + details { margin-top: .5rem }
details[open] summary { margin-bottom: .75rem }
@media (max-width: 40rem) { .list a { grid-template-columns: 1fr }
  main { padding: 1.25rem .75rem 3rem } dl { grid-template-columns: 1fr; gap: 0 } dd { margin-bottom: .4rem } }
`

/** Hash of the style sheet as a Content-Security-Policy source (CSP 3 §2.3.1). */
export const STYLE_SOURCE = `'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`
