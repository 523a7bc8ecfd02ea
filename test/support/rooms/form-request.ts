import express, { type Request } from 'express'

/** An Express request that no server received, for what looks at its identity and its headers only. */
export function plainRequest(headers: Readonly<Record<string, string>> = {}): Request {
  const request: Request = Object.create(express.request, { headers: { value: headers } })
  return request
}
