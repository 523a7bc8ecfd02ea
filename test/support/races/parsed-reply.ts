import { consentFormOf, type ConsentForm } from '../flows/consent-form'
import { usualPaths } from '../flows/flow'
import type { Pair } from './requests'
import type { Reply } from './connections'

/** What a reply says, in a word or three, and what it brought. */
export interface ParsedReply {
  readonly word: string
  readonly form?: ConsentForm
  readonly code?: string
  readonly pair?: Pair
}

/** Reads any reply of the host application. */
export function parseReply(reply: Reply): ParsedReply {
  const { status, headers, text } = reply
  if (status === 303) return redirectionIn(headers.location ?? '')
  if (headers['content-type']?.startsWith('text/html') === true) return pageIn(reply)
  // RFC 6750 3: the guard tells in its challenge why it refuses.
  const challenge = /error="(\w+)"/.exec(headers['www-authenticate'] ?? '')?.[1]
  if (challenge !== undefined) return { word: `${status} ${challenge}` }
  return documentIn(status, text)
}

function redirectionIn(location: string): ParsedReply {
  const parameters = new URLSearchParams(location.split('?')[1])
  const code = parameters.get('code')
  if (code !== null) return { word: 'code', code }
  return { word: parameters.get('error') ?? `a redirect to ${location}` }
}

function pageIn(reply: Reply): ParsedReply {
  const { status, text } = reply
  if (status === 200 && text.includes('You allowed access already')) return { word: 'done already' }
  if (status === 200) return { word: 'question', form: consentFormOf(reply, usualPaths.authorize) }
  return { word: `page ${status} ${/<code>(\w+)<\/code>/.exec(text)?.[1]}` }
}

function documentIn(status: number, text: string): ParsedReply {
  const document = parsed(text)
  if (status !== 200) return { word: `${status} ${textIn(document, 'error')}` }
  if (textIn(document, 'active') !== '')
    return { word: textIn(document, 'active') === 'true' ? 'active' : 'inactive' }
  const pair = {
    accessToken: textIn(document, 'access_token'),
    refreshToken: textIn(document, 'refresh_token'),
  }
  if (pair.accessToken !== '' && pair.refreshToken !== '') return { word: 'tokens', pair }
  return { word: textIn(document, 'clientId') === '' ? 'done' : 'access' }
}

function parsed(text: string): ReadonlyMap<string, unknown> {
  try {
    return new Map(Object.entries(JSON.parse(text)))
  } catch {
    return new Map()
  }
}

function textIn(document: ReadonlyMap<string, unknown>, name: string): string {
  const value = document.get(name)
  return typeof value === 'string' || typeof value === 'boolean' ? String(value) : ''
}
