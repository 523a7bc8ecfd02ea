export {
  metadataDocuments,
  type MetadataDocumentsOptions,
} from '../clients/metadata-documents/metadata-documents'
export type { ClientStore } from '../stores/client-records'
export { registeredClients, type ClientRegistry } from '../stores/registered'
export type { ClientRegistrar } from '../clients/client-registrar'
export { dropOldClientSecrets, rotateClientSecret } from '../clients/client-secrets'
export {
  changeClient,
  type ClientChange,
  deleteClient,
  disableClient,
  enableClient,
} from '../clients/change-client'
export { registerClient, type ClientMetadata, type IssuedCredentials } from '../clients/register-client'
export type {
  DynamicRegistrationOptions,
  VerifyInitialAccessToken,
} from '../clients/dynamic-registration/registration-options'
