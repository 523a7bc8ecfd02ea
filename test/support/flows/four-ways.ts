import type { Response } from 'supertest'
import {
  type AuthorizationServerOptions,
  type ClientRegistration,
  memoryStore,
  stepUp,
} from '../../../lib/index'
import { deviceAuthorization } from '../../../lib/paths/devices'
import { dpop } from '../../../lib/paths/dpop'
import { openIdConnect } from '../../../lib/paths/openid-connect'
import { pushedAuthorizationRequests } from '../../../lib/paths/pushed-requests'
import { bent, photoBook, photoPrint } from './clients'
import { consentFormOf } from './consent-form'
import { deviceCode, deviceSecret } from './device-stage'
import {
  authorizationRequest,
  type Fields,
  formOf,
  type Headers,
  redemption,
  type RepeatedFields,
} from './flow'
import { alice, identityKeys } from './identity-stage'
import { loginOf, ownerOfHeaders, session } from './login-stage'
import { outcomeOf } from './outcome'
import { redirectionOf } from './redirection'
import { photosApi } from './resources'
import { setStage } from '../flows/stage'
import { withPlugins } from '../with-plug-ins'

/** How a request comes to its owner. */
export const ways = ['browser', 'pushed', 'demanded login', 'device'] as const
export type Way = (typeof ways)[number]

const grant_types = ['authorization_code', 'refresh_token', deviceCode]
const scope = 'openid profile photos:read photos:print'
/** One client for all ways. */
export const viewer = bent(photoPrint, { client_id: 'viewer', grant_types, scope, may_introspect: true })
export const publicViewer = bent(photoBook, { client_id: 'public-viewer', grant_types })

const outcomes: Readonly<Record<string, string>> = {
  code: 'allowed',
  access_denied: 'denied',
  'You allowed access already': 'allowed already',
  'Your device has access': 'allowed',
  'The device got no access': 'denied',
}

/** A server with everything that looks at an owner, a login or a consent. Its host may change the registrations. */
export function waysStage(options: Partial<AuthorizationServerOptions>) {
  const keys = identityKeys()
  const registrations = new Map<string, ClientRegistration>(
    [viewer, publicViewer].map(({ registration }) => [registration.client_id, registration]),
  )
  const set = setStage({
    clients: { find: async (id) => registrations.get(id) },
    counters: memoryStore(),
    resourceOwner: ownerOfHeaders,
    resources: { [photosApi]: { scopes: ['photos:read', 'photos:print'] } },
    ...options,
    plugins: withPlugins(
      [
        keys,
        openIdConnect({ keys, claims: async () => alice, claimsParameter: true }),
        stepUp({ acrValues: ['mfa', 'pwd'] }),
        dpop({ baseUrl: 'http://localhost' }),
        pushedAuthorizationRequests(),
        deviceAuthorization({ secret: deviceSecret }),
      ],
      options.plugins,
    ),
    scopes: {
      openid: 'Know who you are',
      profile: 'See your name',
      'photos:read': 'See your photos',
      'photos:print': 'Print your photos',
      ...options.scopes,
    },
  })
  const now = () => Math.floor(set.clock.read() / 1000)
  return { ...set, registrations, now, login: (how = 'pwd', age = 0) => session(now() - age, how) }
}
type WaysStage = ReturnType<typeof waysStage>

interface Deciding {
  readonly selected?: RepeatedFields
  readonly how?: Headers
  readonly owner?: string
}

/** A request, its owner at a browser, and its client. */
export class WaitingRequest {
  /** To what the login was asked to lead, for a request that demanded one. */
  demand: string | undefined

  private constructor(
    private readonly set: WaysStage,
    private readonly client: typeof viewer,
    /** Where a browser brings it. */
    private path: string,
    /** What its client heard of it, if it spoke to the server itself. */
    readonly opened?: Response,
  ) {}

  static async open(
    way: Way,
    set: WaysStage,
    bend: RepeatedFields,
    client = viewer,
  ): Promise<WaitingRequest> {
    const fields: RepeatedFields = { scope: 'photos:read', ...bend }
    const asked = { ...authorizationRequest(client), ...fields }
    const at = (path: string, opened?: Response) => new WaitingRequest(set, client, path, opened)
    switch (way) {
      case 'browser':
        return at(`/authorize?${formOf(asked)}`)
      case 'pushed': {
        const opened = await set.flow.request(client, asked, '/par')
        const { client_id } = asked
        return at(`/authorize?${formOf({ client_id, request_uri: opened.body.request_uri })}`, opened)
      }
      case 'demanded login': {
        const prompt = ['login', fields['prompt'] ?? []].flat().join(' ')
        const request = at(`/authorize?${formOf({ ...asked, prompt })}`)
        request.demand = await request.led(await request.page(set.login('pwd', 600)))
        return request
      }
      case 'device':
        return at('/device', await set.flow.request(client, fields, '/device_authorization'))
    }
  }

  private get userCode(): string | undefined {
    return this.opened?.body.user_code
  }

  /** The owner brings it; an empty owner is not logged in. */
  async page(how = this.set.login(), owner = 'alice'): Promise<Response> {
    const { set, path, userCode } = this
    return userCode === undefined
      ? set.flow.open(path, owner || undefined, how)
      : set.flow.enterCode({ user_code: userCode }, owner, how)
  }

  /** Where it leads its owner, or what its client hears at once. */
  async leads(how?: Headers, owner?: string): Promise<string> {
    const { status = 200, body } = this.opened ?? {}
    return status === 400 ? String(body.error) : this.led(await this.page(how, owner))
  }

  /** Where an answer leads its owner: to the page, a login, the client or a refusal. The owner is back from a login. */
  async led(response: Response): Promise<string> {
    const location = response.get('Location') ?? ''
    // The page of devices leads to the login by itself.
    if (location.startsWith('/device'))
      return this.led(await this.set.flow.open(location, 'alice', this.set.login()))
    if (location.startsWith('/login')) {
      const { back } = loginOf(response)
      const { searchParams } = new URL(location, 'http://localhost')
      searchParams.delete('return_to')
      const { userCode } = this
      if (userCode === undefined) this.path = back
      else if (!back.includes(userCode)) throw new Error(`The login forgets the code: ${back}`)
      return `login ${searchParams.toString()}`
    }
    if (response.text.includes('value="deny"')) return 'page'
    const title = /<title>([^<]*)</.exec(response.text)?.[1] ?? ''
    const told = response.status === 303 ? (redirectionOf(response).parameters['error'] ?? 'code') : title
    return outcomes[told] ?? (response.status === 303 ? told : outcomeOf(response))
  }

  /** The owner presses a button. */
  async decide(page: Response, decision = 'approve', deciding: Deciding = {}): Promise<Response> {
    const { selected = {}, how = this.set.login(), owner = 'alice' } = deciding
    const { action, fields } = consentFormOf(page, this.userCode === undefined ? '/authorize' : '/device')
    return this.set.flow.submit(action, { ...fields, ...selected, decision }, owner, how)
  }

  async decided(...given: Parameters<WaitingRequest['decide']>): Promise<string> {
    return this.led(await this.decide(...given))
  }

  /** What its client then sends for tokens. */
  grant(answer: Response): Fields {
    const device_code = this.opened?.body.device_code
    return device_code === undefined
      ? redemption(this.client, redirectionOf(answer).parameters['code'] ?? '')
      : { grant_type: deviceCode, device_code }
  }

  async tokens(answer: Response): Promise<Response> {
    return this.set.flow.request(this.client, this.grant(answer))
  }

  /** What a guard tells about the tokens. */
  async access(answer: Response) {
    return (await this.set.flow.photos((await this.tokens(answer)).body.access_token)).body
  }
}
