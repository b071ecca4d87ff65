import { expect } from 'chai'
import { createDeviceMarks } from '../../../plugins/auth/device-marks.ts'
import { logIn } from '../../../plugins/auth/flows/log-in.ts'
import type { AuthParts } from '../../../plugins/auth/flows/parts.ts'
import { createHashPool } from '../../../plugins/auth/hash-pool.ts'
import { createPasswords } from '../../../plugins/auth/passwords.ts'
import { ServiceUnavailable } from '../../../src/index.ts'

describe('A login while too many hashes wait', () => {
  it('is turned away before an attempt is counted or a user is read', async () => {
    const pool = createHashPool({ concurrency: 1, queue: 0 })
    let end = (): void => undefined
    const running = pool.run(
      () =>
        new Promise<void>((resolve) => {
          end = resolve
        }),
    )
    const touched: string[] = []
    const parts = {
      passwords: createPasswords({ pool }),
      devices: createDeviceMarks([Buffer.alloc(32)]),
      events: { emit: (type: string) => void touched.push(type) },
      limits: { attempt: async () => void touched.push('limits') },
      store: { findUserByEmail: async () => void touched.push('store') },
    } as unknown as AuthParts
    const caller = { id: 'request', ip: '192.0.2.1', set: () => undefined }
    const input = { email: 'ada@example.com', password: 'correct horse battery' }
    const refused: unknown = await logIn(parts, input, caller, null).catch((error: unknown) => error)
    expect(refused).to.be.instanceOf(ServiceUnavailable)
    expect(touched).to.deep.equal(['auth.login.failed'])
    end()
    await running
  })
})
