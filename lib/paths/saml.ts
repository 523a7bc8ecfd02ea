export * from '../token-endpoint/grant-types/saml2-bearer/saml2-bearer'
