import type { AuthOptions, AuthProvider } from 'mortar/auth'
import { settings } from './settings.ts'

/** Who can vouch for users. Routes, guards and policies are the same with each; only the chosen one is loaded. */
const variants = {
  basic: () => import('./auth/basic.ts'),
  hosted: () => import('./auth/hosted.ts'),
  library: () => import('./auth/library.ts'),
}

/** Who vouches for users: `AUTH_PROVIDER` chooses. */
export const provider: AuthProvider = (await variants[settings.authProvider]()).provider

export const authOptions: AuthOptions = {
  policies: {
    admin: (user) => user.raw['role'] === 'admin',
  },
}
