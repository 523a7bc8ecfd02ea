import type { Response } from 'supertest'

// RFC 6749 5.2: `error` and `error_description`, and `error_uri`.
const text = /^[\x20\x21\x23-\x5B\x5D-\x7E]+$/
const sentence = /^\S.*\.$/
const uri = /^[\x21\x23-\x5B\x5D-\x7E]+$/

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

// A shorter one may stand in a text by chance.
const shortestSaidBack = 4

/**
 * What of an answer breaks a rule of errors; undefined when it is an error that keeps them, or none.
 *
 * @param sent a value of the request, which no error may say back. Default: no check.
 */
export function faultOf(response: Response, sent = ''): string | undefined {
  const { status, headers } = response
  const kept = headers['cache-control'] === 'no-store' && headers['pragma'] === 'no-cache'
  if (!kept && status !== 200 && status !== 405) return `${status}: may be cached`
  const error = errorOf(response)
  return (
    (error === undefined ? undefined : membersFault(error, kept)) ??
    challengeFault(response) ??
    echoFault(response, sent)
  )
}

function membersFault({ error, error_description, error_uri }: Members, kept: boolean): string | undefined {
  if (!kept) return 'an error that may be cached'
  if (!/^[a-z_]+$/.test(error ?? '')) return `the code ${error}`
  const description = error_description ?? ''
  if (!text.test(description) || !sentence.test(description)) return `the text ${description}`
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

const namedScope = /^The scope [\x21\x23-\x5B\x5D-\x7E]{1,128} /

function echoFault(response: Response, sent: string): string | undefined {
  if (sent.length < shortestSaidBack) return undefined
  const { error, error_description = '', error_uri = '' } = errorOf(response) ?? {}
  // A scope token has none but harmless characters.
  const said = error === 'invalid_scope' ? error_description.replace(namedScope, '') : error_description
  const texts = [said, error_uri, response.get('WWW-Authenticate') ?? '']
  return texts.some((each) => each.includes(sent)) ? `an error that says ${sent} back` : undefined
}
