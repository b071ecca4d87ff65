// Builds the package after `npm install` in a checkout, so that `import 'mortar'` works there in plain Node. An
// installation without the development tools has nothing to build with.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

if (existsSync('node_modules/typescript'))
  process.exitCode =
    spawnSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit', shell: true }).status ?? 1
