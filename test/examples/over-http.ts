import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import type { Injectable } from 'mortar/testing'

type Request = Parameters<Injectable['inject']>[0]
type Query = Record<string, string | string[]> | undefined
type Response = Awaited<ReturnType<Injectable['inject']>>

/** An application in another process, for a test client: its requests go over the network. */
export function overHttp(origin: string): Injectable {
  return {
    async inject({ method = 'GET', url, query, headers, payload, payloadAsStream, signal }: Request) {
      const response = await fetch(addressOf(url as string, query as Query, origin), {
        method,
        headers: Object.entries(headers ?? {}).map(
          ([name, value]) => [name, String(value)] as [string, string],
        ),
        redirect: 'manual',
        signal: signal ?? null,
        ...(payload === undefined ? {} : { body: payload as string }),
      })
      const cookies = response.headers.getSetCookie()
      return {
        statusCode: response.status,
        headers: {
          ...Object.fromEntries(response.headers),
          ...(cookies.length > 0 && { 'set-cookie': cookies }),
        },
        ...(payloadAsStream === true
          ? { stream: () => Readable.fromWeb(response.body as ReadableStream) }
          : { payload: await response.text() }),
      } as Response
    },
  }
}

/** The client uses another origin; only path and query of the URL are sent. */
function addressOf(url: string, query: Query = {}, origin: string): URL {
  const { pathname, searchParams } = new URL(url)
  for (const [name, values] of Object.entries(query))
    for (const value of [values].flat()) searchParams.append(name, value)
  return Object.assign(new URL(origin), { pathname, search: searchParams.toString() })
}
