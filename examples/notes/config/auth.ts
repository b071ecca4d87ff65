import type { AnyBrick } from 'mortar'
import type { AuthOptions, AuthProvider } from '@mortar/auth'
import { settings } from './settings.ts'

interface Variant {
  readonly provider: AuthProvider
  /** Bricks that the provider needs besides the bricks of the application. */
  readonly bricks?: readonly AnyBrick[]
}

/** The providers of users. Routes, guards and policies are the same with each; only the chosen one is loaded. */
const variants: Readonly<Record<typeof settings.authProvider, () => Promise<Variant>>> = {
  basic: () => import('./auth/basic.ts'),
  document: () => import('./auth/document.ts'),
  hosted: () => import('./auth/hosted.ts'),
  library: () => import('./auth/library.ts'),
}

/** The provider that `AUTH_PROVIDER` chooses. */
export const { provider, bricks: authBricks = [] } = await variants[settings.authProvider]()

export const authOptions = {
  policies: {
    admin: (user) => user.raw['role'] === 'admin',
  },
} satisfies AuthOptions
