/** The style sheet of the documentation page: light or dark by the system's setting, readable on a narrow screen. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --back: #fff; --front: #1c2024; --soft: #5b636c; --line: #d8dde3; --panel: #f5f7f9; --accent: #0b57d0; --good: #1a7336; --bad: #b3261e;
  --get: #0b57d0; --post: #1a7336; --put: #8a5300; --patch: #7b3fa0; --delete: #b3261e; --other: #5b636c;
}
@media (prefers-color-scheme: dark) {
  :root {
    --back: #14171a; --front: #e6e9ec; --soft: #a3abb4; --line: #343a41; --panel: #1d2126; --accent: #8ab4f8; --good: #7fd396; --bad: #ff9d94;
    --get: #8ab4f8; --post: #7fd396; --put: #f3bb6c; --patch: #d3a6f0; --delete: #ff9d94; --other: #a3abb4;
  }
}
* { box-sizing: border-box }
[hidden] { display: none !important }
body {
  margin: 0; background: var(--back); color: var(--front); font: 16px/1.55 system-ui, sans-serif;
  display: grid; grid-template: auto 1fr / minmax(14rem, 20rem) minmax(0, 1fr); min-height: 100vh;
}
header { grid-column: 1 / -1; padding: 1.5rem 2rem; border-bottom: 1px solid var(--line) }
nav { padding: 1rem 1.25rem; border-right: 1px solid var(--line); position: sticky; top: 0; align-self: start; max-height: 100vh; overflow: auto }
main { padding: 1rem 2rem 4rem; max-width: 64rem; width: 100% }
main:focus { outline: none }
h1 { margin: 0; font-size: 1.6rem } h1 small { color: var(--soft); font-weight: 400 }
h2 { margin: 2rem 0 .75rem; font-size: 1.25rem } h3 { margin: 1.25rem 0 .5rem; font-size: 1rem } nav h2 { margin: 1rem 0 .25rem; font-size: .95rem }
a { color: var(--accent) }
code, pre, textarea { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: .875rem }
pre { background: var(--panel); border: 1px solid var(--line); border-radius: 6px; padding: .75rem; overflow: auto; max-height: 28rem; margin: .5rem 0 }
.skip { position: absolute; left: -999rem } .skip:focus { left: 1rem; top: 1rem; background: var(--back); padding: .5rem }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px }
nav ul { list-style: none; margin: 0; padding: 0 } nav li { margin: .1rem 0; overflow-wrap: anywhere }
nav a { text-decoration: none; color: inherit; font-size: .875rem; display: block; padding: .15rem 0 } nav a:hover { color: var(--accent) }
.method { display: inline-block; min-width: 4.2em; font: 700 .7rem/1.6 ui-monospace, Menlo, Consolas, monospace; color: var(--other) }
.get { color: var(--get) } .post { color: var(--post) } .put { color: var(--put) } .patch { color: var(--patch) } .delete { color: var(--delete) }
.operation { border: 1px solid var(--line); border-radius: 8px; margin: .5rem 0; background: var(--back) }
.operation > summary { padding: .6rem .9rem; cursor: pointer; display: flex; flex-wrap: wrap; gap: .25rem .75rem; align-items: baseline; list-style: none }
.operation > summary::-webkit-details-marker { display: none }
.operation[open] > summary { background: var(--panel); border-bottom: 1px solid var(--line); border-radius: 8px 8px 0 0 }
.path { font-weight: 600; overflow-wrap: anywhere } .title { color: var(--soft); flex: 1 }
.access { font-size: .75rem; border: 1px solid currentcolor; border-radius: 99px; padding: 0 .6em; color: var(--soft) }
.inside { padding: .25rem 1rem 1rem }
.prose { margin: .4rem 0; white-space: pre-line } .muted { color: var(--soft); font-size: .85rem }
.required { color: var(--bad); font-size: .75rem } .type { color: var(--soft); font-size: .85rem }
.scroll { overflow-x: auto }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; vertical-align: top; padding: .4rem .75rem .4rem 0; border-bottom: 1px solid var(--line) } th { font-size: .8rem; color: var(--soft) }
td .prose { margin: 0 }
.schema { list-style: none; margin: .25rem 0; padding-left: 1rem; border-left: 2px solid var(--line) } .schema li { margin: .35rem 0 }
.schema .prose { margin: 0; color: var(--soft); font-size: .9rem } .name { font-weight: 600 }
.response { margin: .35rem 0 } .response > summary, .content summary, .output summary { cursor: pointer } .content { margin-left: 1rem }
.field { margin: .6rem 0; max-width: 40rem } .field label { display: block; font-size: .85rem; font-weight: 600 } .field small { color: var(--soft) }
input, select, textarea {
  width: 100%; padding: .45rem .6rem; font-size: .95rem; color: inherit; background: var(--back); border: 1px solid var(--soft); border-radius: 6px;
}
button { padding: .5rem 1.4rem; font: inherit; font-weight: 600; color: var(--back); background: var(--accent); border: 0; border-radius: 6px; cursor: pointer }
button:disabled { opacity: .6 }
.status { font-weight: 600 } .good { color: var(--good) } .bad { color: var(--bad) }
@media (max-width: 48rem) {
  body { display: block } nav { position: static; max-height: 16rem; border-right: 0; border-bottom: 1px solid var(--line) } main, header { padding: 1rem }
}
`
