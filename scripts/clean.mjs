// Removes what the build wrote, so that a file deleted from the sources does not live on in the package.
import { rmSync } from 'node:fs'

rmSync(new URL('../dist', import.meta.url), { recursive: true, force: true })
