import { deviceAuthorization } from '../../../lib/index'
import { bent, nightlyReport } from '../../support/flows/clients'
import { deviceCode, deviceSecret } from '../../support/flows/device-stage'

/** A confidential client that gets its tokens as a device, and its server. */
export const pollingFrame = bent(nightlyReport, { grant_types: [deviceCode] })
export const withDevices = {
  plugIns: [deviceAuthorization({ secret: deviceSecret })],
  clients: [pollingFrame.registration],
}
