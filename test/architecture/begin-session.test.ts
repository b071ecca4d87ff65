import { expect } from 'chai'
import { withoutComments } from './source-text.ts'
import { readSources } from './tree.ts'

describe('A session', () => {
  const sources = Object.entries(readSources(['plugins', 'examples', 'config']))
  const filesWith = (pattern: RegExp) =>
    sources.filter(([, source]) => pattern.test(withoutComments(source))).map(([path]) => path)

  it('begins in one function, which asks the store to insert it', () => {
    const callers = filesWith(/\.insertSession\(/).filter((path) => !path.startsWith('plugins/auth/testing/'))
    expect(callers).to.deep.equal(['plugins/auth/flows/admit.ts'])
    const [, admission] = sources.find(([path]) => path === 'plugins/auth/flows/admit.ts')!
    expect(admission.match(/\.insertSession\(/g)).to.have.length(1)
    // Its caller is not exported, so `admit` cannot be avoided.
    expect(
      [...admission.matchAll(/^export (?:async )?function (\w+)/gm)].map(([, name]) => name),
    ).to.deep.equal(['admit', 'tell'])
  })

  it('is asked for more by features, unless one of three flows replaces or issues it', () => {
    expect(filesWith(/way: 'renewal'|way: 'issued'/)).to.have.members([
      'plugins/auth/flows/change-password.ts',
      'plugins/auth/flows/feature-kit.ts',
      'plugins/auth/sessions/fresh-session.ts',
    ])
  })

  it('has one statement in each store that inserts it', () => {
    const inserting = sources.filter(([, source]) =>
      /insert into auth_refresh_tokens|insertOne\(sessionDocument\(/i.test(source),
    )
    expect(inserting.map(([path]) => path)).to.have.members([
      'plugins/auth/basic/store.ts',
      'plugins/auth-document/store.ts',
    ])
  })
})
