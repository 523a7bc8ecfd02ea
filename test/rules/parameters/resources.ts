import { authorizationRequest, redemption } from '../../support/flows/flow'
import { gallery, job, mountResources, photosApi, withResources } from '../../support/flows/resources'
import { exchangeOf } from '../../support/flows/token-exchange'
import { asQueryAndForm, asToken, inBody, type Kind } from './requests'

// Requests at a server with several resources, none of which is the default.
const options = withResources()
const approved = { scope: 'photos:read', resource: photosApi }

export const authorization: Kind = {
  good: 'question',
  options,
  mount: mountResources,
  fields: async () => ({ ...authorizationRequest(gallery), ...approved }),
  send: asQueryAndForm,
}
export const code: Kind = {
  good: 'tokens',
  options,
  mount: mountResources,
  fields: async ({ flow }) => ({
    ...inBody(gallery),
    ...redemption(gallery, await flow.approve(gallery, approved)),
    resource: photosApi,
  }),
  send: asToken,
}
export const refresh: Kind = {
  good: 'tokens',
  options,
  mount: mountResources,
  fields: async ({ flow }) => {
    const { refreshToken: refresh_token } = await flow.tokens(gallery, approved)
    return { ...inBody(gallery), grant_type: 'refresh_token', refresh_token, resource: photosApi }
  },
  send: asToken,
}
export const itself: Kind = {
  good: 'tokens',
  options,
  mount: mountResources,
  fields: async () => ({ ...inBody(job), grant_type: 'client_credentials', ...approved }),
  send: asToken,
}
export const exchange: Kind = {
  good: 'tokens',
  mount: mountResources,
  options: withResources({}, ({ resource, audience }) => ({
    subject: 'alice',
    audience: [...resource, ...audience],
  })),
  fields: async ({ flow }) => ({
    ...inBody(job),
    ...exchangeOf((await flow.tokens(gallery, approved)).accessToken),
    resource: photosApi,
  }),
  send: asToken,
}
