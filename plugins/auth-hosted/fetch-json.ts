/*
 * The fetched keys decide which tokens are accepted, and the key server may be broken or compromised. So the response is
 * read with a deadline, without redirects, as JSON only, and with a size limit. Checked by
 * test/plugins/auth/hosted/hostile-key-server.test.ts.
 */

const MOST_BYTES = 256 * 1024
const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i

/** A response of the provider that cannot be used. The message is for the log. */
export class UnusableAnswer extends Error {
  override readonly name = 'UnusableAnswer'
}

/**
 * Fetches a JSON object.
 * @throws UnusableAnswer for a redirect, another status than 200, another type than JSON, or more than 256 KiB. Errors of
 * `fetch` and the signal's reason are passed on.
 */
export async function fetchJson(url: string, signal: AbortSignal): Promise<Record<string, unknown>> {
  const response = await fetch(url, { redirect: 'manual', signal, headers: { accept: 'application/json' } })
  const refusal = refusalOf(response)
  if (refusal !== undefined) {
    await response.body?.cancel()
    throw new UnusableAnswer(`${url} ${refusal}`)
  }
  const value = parse(await readText(response, url), url)
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new UnusableAnswer(`${url} returns JSON that is not an object`)
  return value as Record<string, unknown>
}

function refusalOf(response: Response): string | undefined {
  if (response.status !== 200) return `answers with status ${response.status}`
  const type = response.headers.get('content-type') ?? ''
  return JSON_TYPE.test(type) ? undefined : `answers with the type '${type}' instead of JSON`
}

/** Counts the decoded bytes, since a length can be missing or false, and the body may be compressed. */
async function readText(response: Response, url: string): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  // An exception in the loop closes the connection.
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength
    if (size > MOST_BYTES) throw new UnusableAnswer(`${url} answers with more than ${MOST_BYTES} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function parse(text: string, url: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new UnusableAnswer(`${url} returns invalid JSON`)
  }
}
