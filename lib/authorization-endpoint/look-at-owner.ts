import { type Eventual, following } from '../primitives/concurrency'
import { isRecord, isTexts } from '../primitives/values'
import type { PlugIns } from '../doors/plug-ins'
import type { Client } from '../protocol/client'
import type { ExtensionOwnerRequest } from '../protocol/extension'
import { dataOf, type ExtensionData } from '../protocol/extension-data'
import type { LoginRequest, ResourceOwner } from '../protocol/resource-owner'
import { Parameters } from '../protocol/parameters'
import type { ResponseTypeDescription } from '../protocol/response-types'
import type { Scope } from '../protocol/scope'
import type { Context } from '../doors/context'
import { offerIn } from './consent-offer'
import {
  clockTolerance,
  loginDefaultsFor,
  loginParameters,
  loginRequestOf,
  openDemandOf,
  parseRequestedLogin,
  type RequestedLogin,
} from './requested-login'

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
 * Judges by the request and by the extensions with `atResourceOwner`, at each page at which an owner gets or decides a
 * request.
 */
export function lookAtOwner(
  { plugIns: { atResourceOwner } }: Context,
  { requestedLogin, extensionData, ...asked }: RequestOfOwner,
  owner: ResourceOwner | undefined,
  now: number,
): Eventual<Look> {
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
  return following(
    verdictOf(atResourceOwner, owner, { ...asked, loginDemandedAt }, extensionData),
    ({ verdict, acrValues }) => {
      const isLoggedIn = owner !== undefined
      const again = isLoggedIn && (open.login || verdict === 'log in')
      // Who comes back from the choice of an account has chosen.
      if (isLoggedIn && !again && (isMissed || !open.account)) return { login: undefined, verdict }
      const plain = loginRequestOf(requestedLogin, again)
      const login = { ...plain, acrValues: [...new Set([...acrValues, ...plain.acrValues])] }
      return { login, verdict }
    },
  )
}

interface StoredRequest {
  readonly client: Client
  readonly responseType: ResponseTypeDescription
  readonly redirectUri: string | undefined
  readonly scope: Scope
  readonly extensionData: ExtensionData
  readonly loginDemandedAt: number | undefined
}

/** For an owner who decides with another login than that of the page. */
export function lookAgain(
  server: Context,
  request: StoredRequest,
  owner: ResourceOwner,
  now: number,
): Eventual<LoginRequest | undefined> {
  const parameters = Parameters.parse(offerIn(request.extensionData).aboutOwner ?? '')
  const requestedLogin = parseRequestedLogin(
    parameters,
    loginDefaultsFor(request.client, server.plugIns.loginDefaults),
  )
  const asked = { ...request, parameters, requestedLogin, mayApprove: false, hasApproved: async () => false }
  return following(lookAtOwner(server, asked, owner, now), ({ login }) => login)
}

export function aboutOwner(server: Context, parameters: Parameters): string | undefined {
  const read = server.plugIns.atResourceOwner.flatMap(
    ({ authorizationParameters = [] }) => authorizationParameters,
  )
  const named = parameters.only([...loginParameters, ...read])
  return named.isEmpty ? undefined : named.format()
}

/** The one that counts first. */
const verdicts = ['log in', 'ask', 'approve'] as const

interface CommonVerdict {
  readonly verdict: (typeof verdicts)[number] | undefined
  readonly acrValues: readonly string[]
}

const saysNothing: CommonVerdict = { verdict: undefined, acrValues: [] }

function verdictOf(
  extensions: PlugIns['atResourceOwner'],
  owner: ResourceOwner | undefined,
  request: Omit<ExtensionOwnerRequest, 'authorizationData'>,
  extensionData: ExtensionData,
): Eventual<CommonVerdict> {
  return extensions.length === 0 ? saysNothing : commonVerdict(extensions, owner, request, extensionData)
}

async function commonVerdict(
  extensions: PlugIns['atResourceOwner'],
  owner: ResourceOwner | undefined,
  request: Omit<ExtensionOwnerRequest, 'authorizationData'>,
  extensionData: ExtensionData,
): Promise<CommonVerdict> {
  const given = new Set<unknown>()
  const acrValues: string[] = []
  for (const extension of extensions) {
    const authorizationData = dataOf(extension.name, extensionData)
    const verdict: unknown = await extension.atResourceOwner(owner, { ...request, authorizationData })
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
