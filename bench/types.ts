/**
 * Measures what the types of an application cost: `npm run bench:types`. Generates applications of 200 and 1,000 route
 * files in each form, runs `tsc` on each, and fails when a route costs too much or when the cost of a route grows with
 * the application.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildWhenStale } from './build.ts'
import { FORMS, generateApplication, type Form } from './type-app.ts'

const ROOT = join(import.meta.dirname, '..')
const SIZES = [200, 1000] as const
const MOST_INSTANTIATIONS = 2000
const MOST_GROWTH = 1.1

interface Cost {
  readonly instantiations: number
  readonly seconds: number
  readonly megabytes: number
}

buildWhenStale()
const failures = (Object.keys(FORMS) as Form[]).flatMap(measureForm)
for (const failure of failures) console.error(failure)
process.exitCode = failures.length > 0 ? 1 : 0

/** Prints a table of one form. @returns its faults. */
function measureForm(form: Form): string[] {
  const empty = costOf(form, 0)
  console.log(`\n### ${form}\n`)
  console.log('| route files | instantiations per route | tsc s | MB |\n| ---: | ---: | ---: | ---: |')
  console.log(
    `| 0 | ${empty.instantiations} in all | ${empty.seconds.toFixed(1)} | ${empty.megabytes.toFixed(0)} |`,
  )
  const perRoute = SIZES.map((size) => {
    const { instantiations, seconds, megabytes } = costOf(form, size)
    const each = (instantiations - empty.instantiations) / size
    console.log(`| ${size} | ${each.toFixed(0)} | ${seconds.toFixed(1)} | ${megabytes.toFixed(0)} |`)
    return each
  })
  const [small, large] = perRoute as [number, number]
  return [
    ...(large > MOST_INSTANTIATIONS
      ? [`${form}: ${large.toFixed(0)} instantiations per route are more than ${MOST_INSTANTIATIONS}.`]
      : []),
    ...(large > small * MOST_GROWTH
      ? [
          `${form}: a route costs ${(large / small).toFixed(2)} times as much among ${SIZES[1]} as among ${SIZES[0]}.`,
        ]
      : []),
  ]
}

/** Generates the application, compiles it and removes it. @throws Error when it does not compile. */
function costOf(form: Form, size: number): Cost {
  const folder = mkdtempSync(join(tmpdir(), 'mortar-types-'))
  try {
    generateApplication(folder, form, size)
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
    const { stdout, status } = spawnSync(process.execPath, [tsc, '-p', folder, '--extendedDiagnostics'], {
      encoding: 'utf8',
      maxBuffer: 1e8,
    })
    if (status !== 0) throw new Error(`tsc failed on ${size} files of ${form}:\n${stdout.slice(0, 2000)}`)
    return {
      instantiations: figure(stdout, 'Instantiations'),
      seconds: figure(stdout, 'Total time'),
      megabytes: figure(stdout, 'Memory used') / 1024,
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function figure(report: string, name: string): number {
  const match = new RegExp(`^${name}: +([\\d.,]+)`, 'm').exec(report)
  if (!match) throw new Error(`tsc prints no '${name}'.`)
  return Number(match[1]!.replaceAll(',', ''))
}
