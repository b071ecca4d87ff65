import { createApp, type App } from 'mortar'
import { throughBothAdapters } from '../../support/adapters.ts'
import { tokens } from '../../support/tokens-brick.ts'
import { check, type Case } from './case.ts'
import { GUARD, guarded, POLICIES } from './guard.ts'
import { INPUTS, inputs } from './inputs.ts'
import { greeter, OUTPUTS, outputs } from './outputs.ts'
import { PATHS, paths } from './paths.ts'

const chapters: readonly (readonly [string, () => App, readonly Case[]])[] = [
  ['Paths', () => createApp().use(paths()), PATHS],
  ['Inputs', () => createApp().use(inputs()), INPUTS],
  ['The guard', () => createApp({ logger: false }).use(tokens(POLICIES)).use(guarded()), GUARD],
  ['Outputs', () => createApp({ logger: false }).use(greeter()).use(outputs()), OUTPUTS],
]

describe('The contract, case by case', () => {
  throughBothAdapters((open) => {
    for (const [title, build, cases] of chapters)
      it(`${title}: ${cases.length} cases`, async () => {
        const served = await open(build())
        for (const one of cases) await check(served, one)
      })
  })
})
