import type { App } from 'mortar'

/** A response with its body. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** Parsed JSON, or the text if it is not JSON. Tests know which to expect. */
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any
  readonly text: string
  /** The `Set-Cookie` header of the refresh cookie, when there is exactly one. */
  readonly setCookie: string | undefined
}

type Injectable = Pick<App, 'inject'>

/** A browser of sorts: keeps cookies and the access token that it was given. */
export class Client {
  readonly cookies = new Map<string, string>()
  accessToken: string | undefined = undefined
  private readonly app: Injectable

  constructor(app: Injectable) {
    this.app = app
  }

  /** The refresh token that it holds. */
  get refreshToken(): string | undefined {
    return [...this.cookies].find(([name]) => !isDevice(name))?.[1]
  }

  /** Another browser with the same cookies and access token, which may speak to another application. */
  copy(app: Injectable = this.app): Client {
    const other = new Client(app)
    for (const [name, value] of this.cookies) other.cookies.set(name, value)
    other.accessToken = this.accessToken
    return other
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Answer> {
    return this.send('GET', path, undefined, headers)
  }

  post(path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    return this.send('POST', path, body, headers)
  }

  delete(path: string, headers: Record<string, string> = {}): Promise<Answer> {
    return this.send('DELETE', path, undefined, headers)
  }

  private async send(
    method: 'GET' | 'POST' | 'DELETE',
    url: string,
    body: unknown,
    headers: Record<string, string>,
  ): Promise<Answer> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await this.app.inject({
      method,
      url,
      headers: {
        ...(cookie && { cookie }),
        ...(this.accessToken && { authorization: `Bearer ${this.accessToken}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const setCookies = [response.headers['set-cookie'] ?? []].flat()
    for (const line of setCookies) this.keep(line)
    const sessionCookies = setCookies.filter((line) => !isDevice(line))
    const parsed = parse(response.body)
    if (parsed?.accessToken) this.accessToken = parsed.accessToken
    return {
      status: response.statusCode,
      headers: response.headers as Answer['headers'],
      body: parsed,
      text: response.body,
      setCookie: sessionCookies.length === 1 ? sessionCookies[0] : undefined,
    }
  }

  private keep(line: string): void {
    const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!
    if (/Max-Age=0(;|$)/.test(line)) this.cookies.delete(name!)
    else this.cookies.set(name!, value!)
  }
}

function isDevice(cookie: string): boolean {
  return /^(__Host-)?mortar_device\b/.test(cookie)
}

// oxlint-disable-next-line typescript/no-explicit-any
function parse(text: string): any {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
