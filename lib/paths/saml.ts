export {
  saml2Bearer,
  type Saml2BearerOptions,
  type SamlIssuer,
} from '../token-endpoint/grant-types/saml2-bearer/saml2-bearer'
