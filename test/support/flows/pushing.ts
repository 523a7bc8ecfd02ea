import {
  pushedAuthorizationRequests,
  type PushedAuthorizationRequestsOptions,
} from '../../../lib/paths/pushed-requests'
import { type ClientApplication, photoPrint } from './clients'
import { authorizationRequest, type RepeatedFields } from './flow'
import type { setStage } from '../flows/stage'
import { withPlugins } from '../with-plug-ins'

export const requestUriPrefix = 'urn:ietf:params:oauth:request_uri:'

/** What a browser brings of a request that its client has pushed. */
export type Brought = Readonly<{ client_id: string; request_uri: string }>

/** A host whose clients may push their requests. */
export function pushingStage(
  open: typeof setStage,
  options: Parameters<typeof setStage>[0] = {},
  plugin: PushedAuthorizationRequestsOptions = {},
) {
  const set = open({
    ...options,
    plugins: withPlugins([pushedAuthorizationRequests(plugin)], options.plugins),
  })
  const push = (bend: RepeatedFields = {}, client: ClientApplication = photoPrint) =>
    set.flow.request(client, { ...authorizationRequest(client), ...bend }, '/par')
  const pushed = async (
    bend: RepeatedFields = {},
    client: ClientApplication = photoPrint,
  ): Promise<Brought> => {
    const { status, body } = await push(bend, client)
    if (status !== 201) throw new Error(`The request was not pushed: ${status} ${JSON.stringify(body)}`)
    return { client_id: client.registration.client_id, request_uri: String(body.request_uri) }
  }
  return { ...set, push, pushed }
}
