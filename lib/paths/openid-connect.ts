export type { BackChannelLogoutOptions } from '../openid-connect/back-channel-logout'
export {
  openIdConnect,
  type OpenIdConnect,
  type OpenIdConnectOptions,
} from '../openid-connect/openid-connect'
export type { ClaimsRequest, OwnerClaims } from '../openid-connect/owner-claims'
