import type { Context } from '../doors/context'
import type { Plugins } from '../doors/plug-ins'
import { isRecord, isTexts } from '../primitives/values'
import type { ExtensionOwnerRequest, LoginDefaults } from '../protocol/extension'
import { dataOf, type ExtensionData } from '../protocol/extension-data'
import { Parameters } from '../protocol/parameters'
import { refused } from '../protocol/refusals'
import { type LoginRequest, plainLogin, type ResourceOwner } from '../protocol/resource-owner'
import { offerIn } from './consent-offer'

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

/**
 * @param demandedAt when the server sent the owner to the login for this request, less the tolerance; undefined if it
 * has not.
 */
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

interface RequestOfOwner extends Omit<ExtensionOwnerRequest, 'authorizationData'> {
  readonly extensionData: ExtensionData
  readonly requestedLogin: RequestedLogin | undefined
}

export interface Look {
  /** Undefined if no login has to come before. */
  readonly login: LoginRequest | undefined
  readonly verdict: CommonVerdict['verdict']
}

/**
 * Judges by the request and by the extensions with `checkOwner`, at each page at which an owner gets or decides a
 * request.
 */
export async function lookAtOwner(
  { plugins: { checkOwner } }: Context,
  { requestedLogin, extensionData, ...asked }: RequestOfOwner,
  owner: ResourceOwner | undefined,
  now: number,
): Promise<Look> {
  const at = asked.loginDemandedAt
  // The login may have been at a process whose clock is behind.
  const demandedAt = at === undefined ? undefined : at - clockTolerance
  // Who did not log in goes to the login again, where no redirect brings the client a refusal.
  const isMissed =
    asked.redirectUri === undefined &&
    demandedAt !== undefined &&
    owner?.authTime !== undefined &&
    owner.authTime < demandedAt
  const loginDemandedAt = isMissed ? undefined : demandedAt
  const open = openDemandOf(requestedLogin, owner, loginDemandedAt, now)
  const request = { ...asked, loginDemandedAt }
  const { verdict, acrValues } = await verdictOf(checkOwner, owner, request, extensionData)
  const isLoggedIn = owner !== undefined
  const again = isLoggedIn && (open.login || verdict === 'log in')
  // Who comes back from the choice of an account has chosen.
  if (isLoggedIn && !again && (isMissed || !open.account)) return { login: undefined, verdict }
  const plain = loginRequestOf(requestedLogin, again)
  return { login: { ...plain, acrValues: [...new Set([...acrValues, ...plain.acrValues])] }, verdict }
}

/** For an owner who decides with another login than that of the page. */
export function lookAgain(
  server: Context,
  request: Omit<RequestOfOwner, 'parameters' | 'requestedLogin' | 'mayApprove' | 'hasApproved'>,
  owner: ResourceOwner,
  now: number,
): Promise<Look> {
  const offer = offerIn(request.extensionData)
  const parameters = Parameters.parse(offer.aboutOwner ?? '')
  const requestedLogin = withDefaults(parseRequestedLogin(parameters), offer.loginDefaults)
  const asked = { ...request, parameters, requestedLogin, mayApprove: false, hasApproved: async () => false }
  return lookAtOwner(server, asked, owner, now)
}

export function aboutOwner(server: Context, parameters: Parameters): string | undefined {
  const read = server.plugins.checkOwner.flatMap(
    ({ authorizationParameters = [] }) => authorizationParameters,
  )
  const named = parameters.only([...loginParameters, ...read])
  return named.isEmpty ? undefined : named.format()
}

/** The strongest first: of several, it decides. */
const verdicts = ['log in', 'ask', 'approve'] as const

interface CommonVerdict {
  readonly verdict: (typeof verdicts)[number] | undefined
  readonly acrValues: readonly string[]
}

async function verdictOf(
  extensions: Plugins['checkOwner'],
  owner: ResourceOwner | undefined,
  request: Omit<ExtensionOwnerRequest, 'authorizationData'>,
  extensionData: ExtensionData,
): Promise<CommonVerdict> {
  const given = new Set<unknown>()
  const acrValues: string[] = []
  for (const extension of extensions) {
    const authorizationData = dataOf(extension.name, extensionData)
    const verdict: unknown = await extension.checkOwner(owner, { ...request, authorizationData })
    const demanded = acrValuesIn(verdict)
    if (demanded === undefined && verdict !== undefined && !verdicts.some((known) => known === verdict))
      throw new TypeError(
        `The extension "${extension.name}" must resolve to 'approve', 'ask', 'log in', { logIn: { acrValues } } or undefined for an owner.`,
      )
    acrValues.push(...(demanded ?? []))
    given.add(demanded === undefined ? verdict : 'log in')
  }
  return { verdict: verdicts.find((verdict) => given.has(verdict)), acrValues }
}

// Hosts write extensions, also in JavaScript.
function acrValuesIn(verdict: unknown): readonly string[] | undefined {
  const demand = isRecord(verdict) ? verdict['logIn'] : undefined
  const values = isRecord(demand) ? demand['acrValues'] : undefined
  return isTexts(values) ? values : undefined
}
