import { credentialId, digest } from '../protocol/credential'
import { refused } from '../protocol/refusals'
import { type Parameters, parametersAtMost } from '../protocol/parameters'

/**
 * Tells a return from the login from a fresh request: how often, since when, and the reference to a demanded login. In
 * the URL, the count needs no memory, works on several processes, and each tab has its own. RFC 6749 3.1: clients
 * ignore unknown parameters of their request, as this server must. A forged count only shows its sender a page.
 */
const parameter = 'login_returns'

const returnsAtMost = 3
/** Seconds. Three slow logins are no loop. */
const window = 60

/** `since` in seconds since the epoch. */
interface LoginReturns {
  readonly count: number
  readonly since: number
}

/**
 * Undefined if the login has returned three times within a minute: without an owner, the request would loop.
 *
 * @param now seconds since the epoch.
 * @throws OAuthError `invalid_request` if a full request leaves no room for the reference.
 */
export function queryAfterLogin(parameters: Parameters, now: number, reference?: string): string | undefined {
  const query = parameters.toQuery()
  const { count, since } = returnsIn(query.get(parameter), now)
  if (count >= returnsAtMost) return undefined
  query.delete(parameter)
  const next = count === 0 ? '1' : `${count + 1}.${since.toString(36)}`
  if (query.size < parametersAtMost)
    query.append(parameter, reference === undefined ? next : `${next}.${reference}`)
  // A full request stays valid, though its loop is not noticed. A demanded login would come without end.
  else if (reference !== undefined) throw refused('too_many_parameters')
  return query.toString()
}

// Characters. Servers and proxies take request lines of 8 KiB.
const longestQuery = 7000

/**
 * OpenID Connect Core 3.1.2.1: the same request after the choice of an account; undefined if too long for a URL.
 *
 * @param parameters of a request that shows a page, so `prompt` is not `none`.
 */
export function accountSwitchOf(parameters: Parameters): string | undefined {
  const query = parameters.toQuery()
  query.delete(parameter)
  const prompts = new Set(
    query
      .get('prompt')
      ?.split(' ')
      .filter((prompt) => prompt !== ''),
  )
  query.set('prompt', [...prompts.add('select_account')].join(' '))
  const text = query.toString()
  return text.length <= longestQuery && query.size <= parametersAtMost ? text : undefined
}

// The count, the time in base 36, and the reference.
const form = /^([1-9])(?:\.([0-9a-z]{1,8}))?(?:\.(lr_[\w-]{64}))?$/

function returnsIn(text: string | null, now: number): LoginReturns {
  const [, count, start] = form.exec(text ?? '') ?? []
  if (count === '1' && start === undefined) return { count: 1, since: now }
  const since = Number.parseInt(start ?? '', 36)
  const isCurrent = count !== undefined && count !== '1' && since <= now && now - since < window
  return isCurrent ? { count: Number(count), since } : { count: 0, since: now }
}

/** It proves nothing yet. */
export function loginReferenceOf(
  parameters: Parameters,
): { readonly reference: string; readonly id: string } | undefined {
  const [, , , reference] = form.exec(parameters.peek(parameter) ?? '') ?? []
  const id = reference === undefined ? undefined : credentialId('loginReference', reference)
  return reference === undefined || id === undefined ? undefined : { reference, id }
}

/** Without what the login has added. */
export function requestDigest(parameters: Parameters): string {
  const query = parameters.toQuery()
  query.delete(parameter)
  return digest(query.toString())
}
