// Builds the package after `npm install` in a checkout, so that `import 'mortar'` works there in plain Node. An
// installation without the development tools has nothing to build with. npm links commands before this script, and only
// those whose file exists: the second step links `mortar`.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

const run = (line) => spawnSync(`npm ${line}`, { stdio: 'inherit', shell: true }).status ?? 1

if (existsSync('node_modules/typescript'))
  process.exitCode = run('run --silent build') || run('rebuild --silent --ignore-scripts mortar')
