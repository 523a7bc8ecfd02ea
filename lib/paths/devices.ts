export {
  deviceAuthorization,
  type DeviceAuthorizationOptions,
} from '../device-authorization/device-authorization'
export type { DeviceAnswerView, DeviceCodeView, DeviceView } from '../device-authorization/device-page'
