import type { Injectable } from 'mortar/testing'

type Request = Parameters<Injectable['inject']>[0]
type Response = Awaited<ReturnType<Injectable['inject']>>

/** An application in another process, for a test client: its requests go over the network. */
export function overHttp(origin: string): Injectable {
  return {
    async inject({ method = 'GET', url, headers, payload }: Request) {
      const response = await fetch(addressOf(url as { pathname: string; query?: object }, origin), {
        method,
        headers: Object.entries(headers ?? {}).map(
          ([name, value]) => [name, String(value)] as [string, string],
        ),
        redirect: 'manual',
        ...(payload === undefined ? {} : { body: payload as string }),
      })
      const cookies = response.headers.getSetCookie()
      return {
        statusCode: response.status,
        headers: {
          ...Object.fromEntries(response.headers),
          ...(cookies.length > 0 && { 'set-cookie': cookies }),
        },
        payload: await response.text(),
      } as Response
    },
  }
}

function addressOf({ pathname, query = {} }: { pathname: string; query?: object }, origin: string): string {
  const parameters = Object.entries(query).flatMap(([name, values]) =>
    [values].flat().map((value): [string, string] => [name, String(value)]),
  )
  return `${origin}${pathname}?${new URLSearchParams(parameters).toString()}`
}
