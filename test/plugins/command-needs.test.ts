import { expect } from 'chai'
import type { BrickCommand } from 'mortar'
import { jobs } from '@mortar/jobs'
import { limits } from '@mortar/limits'
import { accountCommands } from '../../plugins/auth/commands.ts'
import { DIRECTORY } from './jobs/applications.ts'

type Commands = Readonly<Record<string, BrickCommand>>

/** The commands of each brick, with the bricks that they start and whether they load the routes. */
const BRICKS: Readonly<Record<string, readonly [Commands, needs: readonly string[], needsRoutes?: true]>> = {
  auth: [accountCommands('basic'), ['database']],
  jobs: [jobs({ directory: DIRECTORY }).commands!, ['database']],
  limits: [limits().commands!, ['database', 'redis'], true],
}

describe('The commands of a brick', () => {
  for (const [brick, [commands, needs, needsRoutes]] of Object.entries(BRICKS))
    for (const [name, command] of Object.entries(commands))
      it(`start what they need: ${brick} ${name}`, () => {
        expect([command.needs, command.needsRoutes]).to.deep.equal([needs, needsRoutes])
      })
})
