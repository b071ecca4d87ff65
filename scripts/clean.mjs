// Removes the output of the build, so that a file deleted from the sources is not in the package.
import { rmSync } from 'node:fs'

rmSync(new URL('../dist', import.meta.url), { recursive: true, force: true })
