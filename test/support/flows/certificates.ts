import { CertificateAuthority } from '../certificate-authority'

/** Self-signed certificates with their keys. */
export const ownCertificate = new CertificateAuthority().own
export const otherCertificate = new CertificateAuthority().own
