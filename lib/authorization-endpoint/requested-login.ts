import type { PlugIns } from '../doors/plug-ins'
import type { Client } from '../protocol/client'
import type { LoginDefaults } from '../protocol/extension'
import { type LoginRequest, plainLogin, type ResourceOwner } from '../protocol/resource-owner'
import { refused } from '../protocol/refusals'
import type { Parameters } from '../protocol/parameters'

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
export function parseRequestedLogin(
  parameters: Parameters,
  defaults?: LoginDefaults,
): RequestedLogin | undefined {
  const saysNothing = !loginParameters.some((name) => parameters.get(name) !== undefined)
  if (saysNothing && defaults === undefined) return undefined
  const acrValues = listIn(parameters, 'acr_values')
  return {
    prompts: promptsIn(listIn(parameters, 'prompt')),
    maxAge: maxAgeIn(parameters.get('max_age')) ?? defaults?.maxAge,
    acrValues: acrValues.length > 0 ? acrValues : (defaults?.acrValues ?? []),
    loginHint: parameters.get('login_hint'),
    uiLocales: listIn(parameters, 'ui_locales'),
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

/** Of two extensions, the first one counts. */
export function loginDefaultsFor(
  client: Client,
  extensions: PlugIns['loginDefaults'],
): LoginDefaults | undefined {
  const given = extensions.map((extension) => extension.loginDefaults(client))
  return given.find((defaults) => defaults !== undefined)
}

interface OpenDemand {
  readonly login: boolean
  readonly account: boolean
}

const nothingOpen: OpenDemand = { login: false, account: false }

/** Seconds between the clocks of two processes. */
export const clockTolerance = 5

/**
 * @param demandedAt when the server sent the owner to the login for this request, less the tolerance; undefined if it
 * has not.
 */
export function openDemandOf(
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
