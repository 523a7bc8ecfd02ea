import type { DemandedLogin } from '../authorization/authorization'
import type { LoginDefaults } from '../protocol/extension'
import type { Parameters } from '../protocol/parameters'
import { refused } from '../protocol/refusals'
import { type LoginRequest, plainLogin, type ResourceOwner } from '../protocol/resource-owner'

/** OpenID Connect Core 3.1.2.1. */
export const loginParameters = ['prompt', 'max_age', 'acr_values', 'login_hint', 'ui_locales'] as const

export const promptValues = ['none', 'login', 'consent', 'select_account'] as const
type Prompt = (typeof promptValues)[number]

export interface RequestedLogin {
  readonly prompts: ReadonlySet<Prompt>
  /** In seconds; undefined for any age. */
  readonly maxAge: number | undefined
  readonly acrValues: readonly string[]
  readonly loginHint: string | undefined
  readonly uiLocales: readonly string[]
}

/** Undefined if the request says nothing, as most do. */
export function parseRequestedLogin(parameters: Parameters): RequestedLogin | undefined {
  if (!loginParameters.some((name) => parameters.get(name) !== undefined)) return undefined
  return {
    prompts: promptsIn(listIn(parameters, 'prompt')),
    maxAge: maxAgeIn(parameters.get('max_age')),
    acrValues: listIn(parameters, 'acr_values'),
    loginHint: parameters.get('login_hint'),
    uiLocales: listIn(parameters, 'ui_locales'),
  }
}

const nothingRequested: RequestedLogin = {
  prompts: new Set(),
  maxAge: undefined,
  acrValues: [],
  loginHint: undefined,
  uiLocales: [],
}

export function withDefaults(
  requested: RequestedLogin | undefined,
  defaults: LoginDefaults | undefined,
): RequestedLogin | undefined {
  if (defaults === undefined) return requested
  const own = requested ?? nothingRequested
  return {
    ...own,
    maxAge: own.maxAge ?? defaults.maxAge,
    acrValues: own.acrValues.length > 0 ? own.acrValues : (defaults.acrValues ?? []),
  }
}

const listIn = (parameters: Parameters, name: string): readonly string[] =>
  (parameters.get(name) ?? '').split(' ').filter((value) => value !== '')

const isPrompt = (value: string): value is Prompt => promptValues.some((known) => known === value)

function promptsIn(values: readonly string[]): ReadonlySet<Prompt> {
  // OpenID Connect Core 3.1.2.1: `none` with any other value is an error; an unknown value alone is ignored.
  if (values.includes('none') && values.some((value) => value !== 'none')) throw malformed('prompt')
  return new Set(values.filter(isPrompt))
}

function maxAgeIn(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (/^\d{1,10}$/.test(text)) return Number(text)
  throw malformed('max_age')
}

const malformed = (parameter: string) => refused('parameter_malformed/value', { parameter })

interface OpenDemand {
  readonly login: boolean
  readonly account: boolean
}

const nothingOpen: OpenDemand = { login: false, account: false }

/** Seconds between the clocks of two processes. */
const clockTolerance = 5

/** @param demandedAt less the tolerance; undefined if the server demanded no login for this request. */
function openDemandOf(
  requested: RequestedLogin | undefined,
  owner: ResourceOwner | undefined,
  demandedAt: number | undefined,
  now: number,
): OpenDemand {
  if (requested === undefined || owner === undefined) return nothingOpen
  const { prompts, maxAge } = requested
  const authTime = owner.authTime ?? -Infinity
  const age = now - authTime
  // OpenID Connect Core 3.1.2.1: `max_age=0` demands a login as `prompt=login` does.
  const login = prompts.has('login') || maxAge === 0 || (maxAge !== undefined && age > maxAge)
  if (demandedAt === undefined) return { login, account: prompts.has('select_account') }
  if (login && authTime < demandedAt)
    throw refused('login_not_renewed', {
      'login demanded at': demandedAt + clockTolerance,
      authTime: owner.authTime,
    })
  // Who comes back from the choice of an account has chosen. A new login may have grown too old on its way.
  return { login: maxAge !== undefined && maxAge > 0 && age > maxAge + clockTolerance, account: false }
}

export function demandsLogin(requested: RequestedLogin | undefined): boolean {
  if (requested === undefined) return false
  const { prompts, maxAge } = requested
  return maxAge !== undefined || prompts.has('login') || prompts.has('select_account')
}

export function loginRequestOf(requested: RequestedLogin | undefined, again: boolean): LoginRequest {
  if (requested === undefined) return { ...plainLogin, again }
  const { prompts, acrValues, loginHint, uiLocales } = requested
  return { again, selectAccount: prompts.has('select_account'), acrValues, loginHint, uiLocales }
}

interface PastDemand {
  /** Less the tolerance. Undefined without a demand, or if nobody has logged in. */
  readonly since: number | undefined
  /** Where no redirect brings the client a refusal, the owner goes to the login again. */
  readonly isMissed: boolean
}

const nothingDemanded: PastDemand = { since: undefined, isMissed: false }

/** @throws OAuthError if the request itself demanded the login. */
export function pastDemand(
  demandedLogin: DemandedLogin | undefined,
  requested: RequestedLogin | undefined,
  owner: ResourceOwner | undefined,
  redirectUri: string | undefined,
  now: number,
): PastDemand {
  if (demandedLogin === undefined) return nothingDemanded
  // The login may have been at a process whose clock is behind.
  const since = demandedLogin.at - clockTolerance
  const isMissed = redirectUri === undefined && owner?.authTime !== undefined && owner.authTime < since
  if (isMissed) return { since: undefined, isMissed }
  openDemandOf(requested, owner, since, now)
  return { since, isMissed }
}

/** Before the page or the decision. @param demandedClasses undefined if no extension demands a login. */
export function missingLogin(
  requested: RequestedLogin | undefined,
  demandedClasses: readonly string[] | undefined,
  owner: ResourceOwner | undefined,
  { since, isMissed }: PastDemand,
  now: number,
): LoginRequest | undefined {
  const open = openDemandOf(requested, owner, since, now)
  const isLoggedIn = owner !== undefined
  const again = isLoggedIn && (open.login || demandedClasses !== undefined)
  if (isLoggedIn && !again && (isMissed || !open.account)) return undefined
  const plain = loginRequestOf(requested, again)
  return { ...plain, acrValues: [...new Set([...(demandedClasses ?? []), ...plain.acrValues])] }
}
