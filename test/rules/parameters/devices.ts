import { deviceAuthorization } from '../../../lib/paths/devices'
import { bent, nightlyReport } from '../../support/flows/clients'
import { deviceCode, deviceSecret } from '../../support/flows/device-stage'
import { consentFormOf } from '../../support/flows/consent-form'
import { inBody, type Kind } from './requests'

/** A confidential client that gets its tokens as a device, and its server. */
export const pollingFrame = bent(nightlyReport, { grant_types: [deviceCode] })
export const withDevices = {
  plugins: [deviceAuthorization({ secret: deviceSecret })],
  clients: [pollingFrame.registration],
}

/** Requests of a device, and of the owner who enters its code. */
export const device: Kind = {
  good: 'a code',
  options: withDevices,
  fields: async () => ({ ...inBody(pollingFrame), scope: 'photos:read' }),
  send: async ({ flow }, form) => [await flow.submit('/device_authorization', form)],
}

export const deviceEntry: Kind = {
  good: 'question',
  options: withDevices,
  fields: async ({ flow }) => {
    const { body } = await flow.request(pollingFrame, { scope: 'photos:read' }, '/device_authorization')
    const { fields } = consentFormOf(await flow.open('/device', 'alice'), '/device')
    return { ...fields, user_code: body.user_code }
  },
  send: async ({ flow }, form) => [await flow.submit('/device', form, 'alice')],
}
