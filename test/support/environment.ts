/**
 * Variables that describe the machine, the tools and the test run. Everything else in a developer's shell may be meant for
 * an application: `PORT`, `NODE_ENV`, `DATABASE_URL`, `PGHOST`, `OTEL_SDK_DISABLED` …
 */
const KEPT = [
  /^(path|pathext|home|user|logname|shell|pwd|term|colorterm|ci|tz|lang|language|tmpdir|temp|tmp)$/i,
  /^(no_color|force_color|https?_proxy|no_proxy|ssl_cert_file|ssl_cert_dir|node_extra_ca_certs|node_options)$/i,
  /^(systemroot|systemdrive|comspec|windir|userprofile|appdata|localappdata|programfiles)$/i,
  /^(lc|test|mocha|npm_config|xdg)_/i,
]

/** Removes every other variable, so that no test depends on the shell that starts it. */
export function forgetApplicationVariables(variables: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(variables))
    if (!KEPT.some((pattern) => pattern.test(name))) Reflect.deleteProperty(variables, name)
  variables['NODE_ENV'] = 'test'
}
