import {
  createRefreshCookie,
  type CookieTarget,
  type Headers,
  type RefreshCookieOptions,
} from './refresh-cookie.ts'
import type { DeviceMarks } from '../limits/device-marks.ts'

/** The longest time for which browsers keep a cookie, 400 days (RFC 6265bis §5.5). */
const AGE = 400 * 86_400

/** The cookie of a browser that has signed in before. Logging out leaves it alone. */
export interface DeviceCookie {
  /** @returns its value, or null. */
  read(headers: Headers): string | null
  /** Marks the browser for an address. Call it after a success alone. */
  mark(ctx: CookieTarget, email: string): void
}

/** Makes the device cookie, with the attributes of the refresh cookie; without marks it is neither read nor set. */
export function createDeviceCookie(
  options: Omit<RefreshCookieOptions, 'name'>,
  marks: DeviceMarks | undefined,
): DeviceCookie {
  if (marks === undefined) return { read: () => null, mark: () => undefined }
  const { read, set } = createRefreshCookie({ ...options, name: 'mortar_device' })
  return { read, mark: (ctx, email) => set(ctx, marks.issue(email), AGE) }
}
