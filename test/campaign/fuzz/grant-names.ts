export const jwtBearerName = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
