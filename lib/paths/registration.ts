export {
  metadataDocuments,
  type MetadataDocumentsOptions,
} from '../clients/metadata-documents/metadata-documents'
export { type ClientRegistry, type ClientStore, registeredClients } from '../stores/clients'
export {
  changeClient,
  type ClientChange,
  type ClientMetadata,
  deleteClient,
  disableClient,
  dropOldClientSecrets,
  enableClient,
  type IssuedCredentials,
  registerClient,
  rotateClientSecret,
} from '../clients/registrations'
export { type ClientRegistrar } from '../clients/registrar'
export type {
  DynamicRegistrationOptions,
  VerifyInitialAccessToken,
} from '../clients/dynamic-registration/registration-options'
