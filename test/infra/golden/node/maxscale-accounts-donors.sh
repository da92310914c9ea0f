read -r monitor_password
read -r service_password
mariadb <<SQL || { echo "$(hostname): could not create MaxScale's accounts" >&2; exit 1; }
CREATE USER IF NOT EXISTS 'maxscale_monitor'@'10.99.0.%' IDENTIFIED BY '$monitor_password';
ALTER USER 'maxscale_monitor'@'10.99.0.%' IDENTIFIED BY '$monitor_password';
GRANT SUPER, REPLICATION CLIENT ON *.* TO 'maxscale_monitor'@'10.99.0.%';
CREATE USER IF NOT EXISTS 'maxscale_service'@'10.99.0.%' IDENTIFIED BY '$service_password';
ALTER USER 'maxscale_service'@'10.99.0.%' IDENTIFIED BY '$service_password';
GRANT SHOW DATABASES ON *.* TO 'maxscale_service'@'10.99.0.%';
GRANT SELECT ON mysql.user TO 'maxscale_service'@'10.99.0.%';
GRANT SELECT ON mysql.db TO 'maxscale_service'@'10.99.0.%';
GRANT SELECT ON mysql.tables_priv TO 'maxscale_service'@'10.99.0.%';
GRANT SELECT ON mysql.columns_priv TO 'maxscale_service'@'10.99.0.%';
GRANT SELECT ON mysql.proxies_priv TO 'maxscale_service'@'10.99.0.%';
GRANT SELECT ON mysql.roles_mapping TO 'maxscale_service'@'10.99.0.%';
GRANT SELECT ON mysql.procs_priv TO 'maxscale_service'@'10.99.0.%';
SQL
