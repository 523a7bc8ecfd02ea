import { implicit, type AuthorizationServerOptions } from '../../../lib/index'
import { tokenExchange, type ExchangePolicy } from '../../../lib/paths/grants'
import { options as ofCodeToken } from '../../../docs/examples/code-token'
import type { Mount } from './application'
import { bent, nightlyReport, photoPrint } from './clients'
import { authorizationRequest, formOf, type RepeatedFields } from './flow'
import type { Stage } from './stores-of-run'
import { anyOwner, tokenExchangeName } from './token-exchange'
import { withPlugins } from '../with-plug-ins'

export const photosApi = 'https://api.example/photos'
export const printApi = 'https://print.example'
export const reportsApi = 'urn:example:reports'

/** Three resources: two share a scope, two have a lifetime of their own. */
export const threeResources = {
  [photosApi]: { scopes: ['photos:read'], accessTokenLifetime: 600, name: 'Photos of the API' },
  [printApi]: { scopes: ['photos:read', 'photos:print'] },
  [reportsApi]: { scopes: ['reports:write'], accessTokenLifetime: 60 },
} satisfies AuthorizationServerOptions['resources']

const every = 'photos:read photos:print reports:write'

/** A web application that may do all that owners can allow. */
export const gallery = bent(photoPrint, {
  client_id: 'gallery',
  grant_types: ['authorization_code', 'refresh_token', tokenExchangeName],
  scope: every,
})

/** A job that may do all, and that introspects. */
export const job = bent(nightlyReport, {
  client_id: 'job',
  grant_types: ['client_credentials', tokenExchangeName],
  scope: every,
  may_introspect: true,
})

/** An app in the browser, of the old days. */
export const widget = {
  registration: {
    client_id: 'widget',
    client_type: 'public',
    redirect_uris: ['https://widget.example/callback'],
    grant_types: ['implicit', 'authorization_code'],
    response_types: ['token', 'code token'],
    scope: every,
  },
} as const

/** A server with these resources, and with every grant that needs no assertion. */
export function withResources(
  bend: Partial<AuthorizationServerOptions> = {},
  policy: ExchangePolicy = anyOwner,
): Partial<AuthorizationServerOptions> {
  return {
    clients: [gallery, job, widget].map(({ registration }) => registration),
    resources: threeResources,
    defaultScope: every,
    ...bend,
    plugins: withPlugins([tokenExchange({ policy }), implicit(), ...ofCodeToken.plugins], bend.plugins),
  }
}

/** The path of each guarded resource. */
export const pathOf: Readonly<Record<string, string>> = {
  [photosApi]: '/api/photos',
  [printApi]: '/api/print',
  [reportsApi]: '/api/reports',
}

/** The router, and a guarded route for each of the three resources. */
export const mountResources: Mount = (app, oauth) => {
  app.use(oauth.router())
  for (const [resource, path] of Object.entries(pathOf))
    app.get(path, oauth.bearerGuard({ resource }), (request, response) => {
      response.json(request.oauth)
    })
}

/** The resources whose guards let the token pass, and what the first of them tells. */
export async function reach({ flow }: Stage, accessToken: string) {
  const passed: string[] = []
  let access: Record<string, unknown> = {}
  for (const [resource, path] of Object.entries(pathOf)) {
    const response = await flow.open(path, undefined, { Authorization: `Bearer ${accessToken}` })
    if (response.status === 200) access = response.body
    expect([200, 'invalid_token']).toContain(response.status === 200 ? 200 : response.body.error)
    if (response.status === 200) passed.push(resource)
  }
  return { passed, access }
}

/** Fields of a request for two of the three. */
export const both = { scope: 'photos:read photos:print', resource: [photosApi, printApi] }
/** An authorization request of the web application with these fields. */
export const askWith = ({ flow }: Stage, bend: RepeatedFields) =>
  flow.ask(formOf({ ...authorizationRequest(gallery), scope: undefined, ...bend }), 'alice')
