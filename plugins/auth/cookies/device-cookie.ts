import {
  createRefreshCookie,
  type CookieTarget,
  type Headers,
  type RefreshCookieOptions,
} from './refresh-cookie.ts'
import type { StoredUser } from '../accounts/auth-store.ts'
import type { DeviceMarks } from '../limits/device-marks.ts'

/** Maximum lifetime of a cookie in browsers, 400 days (RFC 6265bis §5.5). */
const AGE = 400 * 86_400

/** Cookie of a browser that has signed in before. Logout does not clear it. */
export interface DeviceCookie {
  /** @returns its value, or null. */
  read(headers: Headers): string | null
  /** Marks the browser for an account. Call it only after a successful sign-in. */
  mark(ctx: CookieTarget, user: Pick<StoredUser, 'email' | 'passwordVersion'>): void
}

/** Creates the device cookie with the attributes of the refresh cookie. Without marks it is neither read nor set. */
export function createDeviceCookie(
  options: Omit<RefreshCookieOptions, 'name'>,
  marks: DeviceMarks | undefined,
): DeviceCookie {
  if (marks === undefined) return { read: () => null, mark: () => undefined }
  const { read, set } = createRefreshCookie({ ...options, name: 'mortar_device' })
  return { read, mark: (ctx, user) => set(ctx, marks.issue(user), AGE) }
}
