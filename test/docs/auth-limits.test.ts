import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { resolveLimits } from '../../plugins/auth/limits/limit-rules.ts'
import { tableRows } from '../architecture/markdown.ts'
import { ROOT } from '../architecture/tree.ts'

const WINDOWS: Readonly<Record<number, string>> = { 60: 'a minute', 900: 'in 15 minutes', 3600: 'an hour' }

/** The rows of each rule in the table of limits. A row without a rule belongs to the row above it. */
function documentedLimits(): ReadonlyMap<string, string> {
  const text = readFileSync(join(ROOT, 'docs/auth.md'), 'utf8')
  const [table = ''] = text.split('\n## Limits\n')[1]!.split('\n```')
  const limits = new Map<string, string>()
  let current = ''
  for (const [rule = '', ...cells] of tableRows(table)) {
    if (rule !== '') current = rule.replaceAll('`', '')
    limits.set(current, `${limits.get(current) ?? ''} ${cells.join(' ')}`)
  }
  return limits
}

describe('docs/auth.md', () => {
  it('lists each limit with its number and window', () => {
    const documented = documentedLimits()
    for (const { rule, scope, limit, window } of resolveLimits()) {
      expect(documented.get(rule), rule).to.include(`\`${scope}\``)
      expect(documented.get(rule), `${rule} ${scope}`).to.match(new RegExp(`\\b${limit} ${WINDOWS[window]}`))
    }
  })
})
