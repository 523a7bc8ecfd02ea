import type { Response } from 'supertest'
import { type AuthorizationServerOptions, memoryCounters, type PlugIn } from 'express-authorization-server'
import { deviceAuthorization, deviceCode } from '../../rehearsals/device-authorization'
import { bent, photoBook, photoPrint } from './clients'
import { Clock } from './clock'
import { setStage } from './stage'

export const television = bent(photoBook, {
  client_id: 'television',
  redirect_uris: [],
  response_types: [],
  grant_types: [deviceCode, 'refresh_token'],
})
export const toaster = bent(television, { client_id: 'toaster', grant_types: [deviceCode] })
const clients = [television, toaster, photoPrint].map(({ registration }) => registration)

/** A device that shows a code, and its owner at a browser. */
export async function deviceStage(
  device = television,
  others: readonly PlugIn[] = [],
  options: Partial<AuthorizationServerOptions> = {},
) {
  const clock = new Clock()
  const counters = memoryCounters({ clock: clock.read })
  const { flow, oauth } = setStage({
    plugIns: [deviceAuthorization, ...others],
    clients,
    counters,
    clock: clock.read,
    ...options,
  })
  const { body } = await flow.request(device, { scope: 'photos:read' }, '/device_authorization')
  const poll = (client = device, bend = {}) =>
    flow.request(client, { grant_type: deviceCode, device_code: body.device_code, ...bend })
  /** A poll after the interval. */
  const pollLater = (...given: Parameters<typeof poll>) => {
    clock.advance(5)
    return poll(...given)
  }
  const enter = (user_code: string = body.user_code, owner = 'alice') =>
    flow.submit('/device', { user_code }, owner)
  const fieldsOf = (page: Response, decision: string) => {
    const [, consent_token] = /name="consent_token" value="([^"]+)"/.exec(page.text) ?? []
    return { consent_token, decision }
  }
  const decide = async (page: Response, decision: string, owner = 'alice', headers = {}) =>
    flow.submit('/device', fieldsOf(page, decision), owner, headers)
  return { flow, oauth, clock, body, poll, pollLater, enter, decide }
}
