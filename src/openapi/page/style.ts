/** Style sheet around the API reference: the bar with the sign-in. Its colours are those of the reference. */
export const STYLE = `
:root { --scalar-font: system-ui, sans-serif; --scalar-font-code: ui-monospace, monospace }
body { margin: 0; background: var(--scalar-background-1, Canvas); color: var(--scalar-color-1, CanvasText); font: 15px/1.5 system-ui, sans-serif }
body:has(#account:not([hidden])) { --scalar-custom-header-height: 49px }
[role=alert], [role=status], noscript { display: block; max-width: 40rem; margin: 4rem auto; padding: 0 1.25rem }
#account { position: sticky; top: 0; z-index: 20; box-sizing: border-box; height: 49px; display: flex; align-items: center; gap: .5rem;
  padding: 0 .75rem; background: var(--scalar-background-1); border-bottom: 1px solid var(--scalar-border-color); font-size: 14px }
#account[hidden] { display: none }
#sockets { padding: .5rem 1rem; font: 14px system-ui, sans-serif }
#sockets form:not([hidden]) { display: flex; gap: .5rem; margin-bottom: .5rem }
#sockets input { flex: 1 }
#sockets pre { max-height: 12rem; overflow: auto }
#account output { flex: 1; min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; text-align: right; color: var(--scalar-color-2) }
#account .title { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font-weight: 600 }
#account button, dialog button { flex: none; font: inherit; color: inherit; background: var(--scalar-background-2); cursor: pointer;
  border: 1px solid var(--scalar-border-color); border-radius: 6px; padding: .2rem .7rem }
#account .main, dialog .main { background: var(--scalar-button-1); color: var(--scalar-button-1-color); border-color: transparent }
#account button:disabled, dialog button:disabled { opacity: .5; cursor: default }
#account button:focus-visible, dialog :focus-visible { outline: 2px solid var(--scalar-color-accent); outline-offset: 1px }
#account button[hidden] { display: none }
dialog { width: min(22rem, calc(100vw - 4rem)); color: var(--scalar-color-1); background: var(--scalar-background-1);
  border: 1px solid var(--scalar-border-color); border-radius: 10px; padding: 1.25rem }
dialog::backdrop { background: rgb(0 0 0 / .45) }
dialog h2 { margin: 0 0 1rem; font-size: 1.05rem }
dialog label { display: block; margin-bottom: .75rem; font-size: 13px; color: var(--scalar-color-2) }
dialog input { display: block; box-sizing: border-box; width: 100%; margin-top: .2rem; padding: .4rem .6rem; font: inherit; font-size: 15px;
  color: var(--scalar-color-1); background: var(--scalar-background-2); border: 1px solid var(--scalar-border-color); border-radius: 6px }
dialog p { min-height: 1.2em; margin: .25rem 0 .75rem; font-size: 13px; color: var(--scalar-color-red) }
dialog .buttons { display: flex; justify-content: flex-end; gap: .5rem }
@media (max-width: 40rem) { #account .title { display: none } #account output { text-align: left } }
`
