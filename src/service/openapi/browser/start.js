// Runs in the browser, after the viewer: shows the description of the service that served this page.
window.SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#description',
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  docExpansion: 'list',
  tryItOutEnabled: true,
  // The badge would be fetched from another origin, with the address of this page in it.
  validatorUrl: null,
});
