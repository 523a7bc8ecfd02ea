import request from 'supertest'
import { pathOf } from '../../support/flows/resources'
import { type Host, metadataOf } from './hosts'

/** What the metadata of a resource says, as a client finds it. */
export async function documentOf({ flow }: Host, resource: string): Promise<Host['metadata']> {
  const path = new URL(resource).pathname.replace(/^\/$/, '')
  return metadataOf(flow, `/.well-known/oauth-protected-resource${path}`)
}

/** A token with this scope for a resource; the error code if there is none. */
export async function tokenFor(
  { flow, gallery }: Host,
  resource: string,
  scope: string,
): Promise<{ readonly accessToken: string; readonly error: string | undefined }> {
  const asked = { grant_type: 'client_credentials', scope, resource }
  const { body } = await flow.request(gallery, asked)
  return { accessToken: String(body.access_token), error: body.error }
}

/** Calls a resource with a token by a method of RFC 6750 2. */
export async function callBy(
  { app }: Host,
  resource: string,
  method: string,
  accessToken: string,
): Promise<number> {
  const path = String(pathOf[resource])
  const call = {
    header: () => request(app).get(path).auth(accessToken, { type: 'bearer' }),
    body: () => request(app).post(path).type('form').send({ access_token: accessToken }),
    query: () => request(app).get(path).query({ access_token: accessToken }),
  }[method]
  if (call === undefined) throw new Error(`Nobody knows how to send a token by ${method}.`)
  return (await call()).status
}
