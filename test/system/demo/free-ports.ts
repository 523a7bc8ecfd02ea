/** Any free port for each app of the demo. */
export const freePorts = {
  authorizationServer: 0,
  client: 0,
  resourceServer: 0,
  relyingParty: 0,
  postcards: 0,
  attackLab: 0,
  television: 0,
}
