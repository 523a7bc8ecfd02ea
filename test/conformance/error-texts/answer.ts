import type { Response } from 'supertest'
import { shapes } from './written'

// RFC 6749 5.2: `error` and `error_description`, and `error_uri`.
const text = /^[\x20\x21\x23-\x5B\x5D-\x7E]+$/
const uri = /^[\x21\x23-\x5B\x5D-\x7E]+$/

/** Whether a description may be sent. */
export const isDescription = (description: string): boolean => text.test(description)

type Members = Readonly<Record<string, string>>

/** What the client reads of an answer that is an error: in the body, in the query or in the fragment. */
export function errorOf(response: Response): Members | undefined {
  const location = response.get('Location')
  const members: Members = location === undefined ? response.body : parametersOf(location)
  return 'error' in members ? members : undefined
}

function parametersOf(location: string): Members {
  const { searchParams, hash } = new URL(location, 'http://localhost')
  return Object.fromEntries([...searchParams, ...new URLSearchParams(hash.slice(1))])
}

/** What of an answer breaks a rule of errors; undefined when it is an error that keeps them, or none. */
export function faultOf(response: Response): string | undefined {
  const { status, headers } = response
  const kept = headers['cache-control'] === 'no-store' && headers['pragma'] === 'no-cache'
  if (!kept && status !== 200 && status !== 405) return `${status}: may be cached`
  const error = errorOf(response)
  return (error === undefined ? undefined : membersFault(error, kept)) ?? challengeFault(response)
}

function membersFault({ error, error_description, error_uri }: Members, kept: boolean): string | undefined {
  if (!kept) return 'an error that may be cached'
  if (!/^[a-z_]+$/.test(error ?? '')) return `the code ${error}`
  const told = error_description ?? ''
  if (!text.test(told) || !shapes.some((shape) => shape.test(told))) return `the text ${told}`
  return error_uri === undefined || uri.test(error_uri) ? undefined : `the URI ${error_uri}`
}

const parameter = String.raw`[a-z_]+="[\x20\x21\x23-\x5B\x5D-\x7E]*"`
const wellFormed = new RegExp(
  `^(?:Basic realm="[^"\\\\]+", charset="UTF-8"|Bearer ${parameter}(?:, ${parameter})*)$`,
)

function challengeFault(response: Response): string | undefined {
  const challenge = response.get('WWW-Authenticate')
  if (challenge === undefined) return response.status === 401 ? '401 without a challenge' : undefined
  return wellFormed.test(challenge) ? undefined : `the challenge ${challenge}`
}
